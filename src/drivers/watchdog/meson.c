/*
 * Amlogic Meson watchdog, as in the S905X3: a counter of 16 bits behind a divider of 18 bits from
 * the crystal of 24 MHz. It counts in steps of 10 ms here, so that the longest benchmark fits.
 */
#include "el1bench/mmio.h"
#include "el1bench/watchdog.h"

#define CONTROL 0x00
#define CONTROL_DIVIDER 240000U /* bits 17:0 */
#define CONTROL_ENABLE (1U << 18)
#define CONTROL_RESETS (3U << 21) /* of the chip's parts, and of its pin */
#define CONTROL_CLOCKS (3U << 24) /* the clock, and its divider */
#define COUNT 0x08                /* what it counts up to, bits 15:0 */
#define COUNT_MAX 0xffffU
#define STEP_MS 10U
#define CLEAR 0x0c /* any write: counts from 0 again */

static void meson_stop(volatile void *registers)
{
	write32(registers, CONTROL, CONTROL_DIVIDER | CONTROL_RESETS | CONTROL_CLOCKS);
}

static void meson_arm(volatile void *registers, uint32_t milliseconds)
{
	meson_stop(registers);
	write32(registers, COUNT, (milliseconds + STEP_MS - 1) / STEP_MS);
	write32(registers, CLEAR, 0);
	write32(registers, CONTROL,
		CONTROL_DIVIDER | CONTROL_RESETS | CONTROL_CLOCKS | CONTROL_ENABLE);
}

static const struct watchdog_driver meson = {
	.compatible = "amlogic,meson-gxbb-wdt",
	.max_ms = COUNT_MAX * STEP_MS,
	.arm = meson_arm,
	.stop = meson_stop,
};

WATCHDOG_DRIVER(meson);
