/*
 * Amlogic Meson UART, as in the S905X3 (chapter UART of its data sheet). Keeps the line settings
 * that firmware left. Never sets TX_RST: that would drop the bytes that U-Boot still has queued.
 */
#include <stddef.h>

#include "el1bench/mmio.h"
#include "el1bench/uart.h"

#define WFIFO 0x00
#define CONTROL 0x08
#define CONTROL_TX_EN (1U << 12)
#define CONTROL_TX_RST (1U << 22)
#define STATUS 0x0c
#define STATUS_TX_FULL (1U << 21)
#define STATUS_TX_EMPTY (1U << 22)
#define STATUS_XMIT_BUSY (1U << 25) /* the shift register still sends */
#define REG5 0x14                   /* the line's speed */
#define REG5_USE_NEW_BAUD (1U << 23)
#define REG5_USE_XTAL (1U << 24)
#define REG5_XTAL_UNDIVIDED (1U << 26)
#define REG5_DIVISOR_MAX 0x7fffffU
#define XTAL_HZ 24000000U

static void meson_start(volatile void *registers)
{
	uint32_t control = read32(registers, CONTROL);
	/* A reset that is still held has nothing queued to lose and would swallow what we write. */
	uint32_t wanted = (control | CONTROL_TX_EN) & ~CONTROL_TX_RST;

	if (wanted != control) {
		write32(registers, CONTROL, wanted);
	}
}

static bool meson_ready(volatile void *registers)
{
	return (read32(registers, STATUS) & STATUS_TX_FULL) == 0;
}

static void meson_put(volatile void *registers, uint8_t byte)
{
	write32(registers, WFIFO, byte);
}

static bool meson_drained(volatile void *registers)
{
	return (read32(registers, STATUS) & (STATUS_TX_EMPTY | STATUS_XMIT_BUSY)) ==
	       STATUS_TX_EMPTY;
}

static uint32_t meson_speed(volatile void *registers)
{
	return read32(registers, REG5);
}

static bool meson_speed_for(uint32_t baud, uint32_t *setting)
{
	uint32_t divisor = baud == 0 ? 0 : (XTAL_HZ + baud / 2) / baud;
	uint32_t actual = divisor == 0 ? 0 : XTAL_HZ / divisor;
	uint32_t off = actual > baud ? actual - baud : baud - actual;

	if (divisor == 0 || divisor - 1 > REG5_DIVISOR_MAX || off > baud / 50) {
		return false;
	}
	*setting = REG5_USE_NEW_BAUD | REG5_USE_XTAL | REG5_XTAL_UNDIVIDED | (divisor - 1);
	return true;
}

static void meson_set_speed(volatile void *registers, uint32_t setting)
{
	write32(registers, REG5, setting);
}

static const char *const meson_compatible[] = {
	"amlogic,meson-gx-uart",
	"amlogic,meson-g12a-uart",
	"amlogic,meson-s4-uart",
	"amlogic,meson-ao-uart",
	NULL,
};

static const struct uart_driver meson = {
	.name = "meson",
	.compatible = meson_compatible,
	.fifo_bytes = 64,
	.start = meson_start,
	.ready = meson_ready,
	.put = meson_put,
	.drained = meson_drained,
	.speed = meson_speed,
	.speed_for = meson_speed_for,
	.set_speed = meson_set_speed,
};

UART_DRIVER(meson);
