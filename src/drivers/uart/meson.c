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
};

UART_DRIVER(meson);
