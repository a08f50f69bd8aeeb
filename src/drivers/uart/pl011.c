/*
 * Arm PrimeCell UART, PL011 (DDI 0183). Keeps the line settings that firmware left; switches the
 * transmitter on only if it is off, since writing UARTCR while bytes are on their way may lose
 * them.
 */
#include <stddef.h>

#include "el1bench/mmio.h"
#include "el1bench/uart.h"

#define UARTDR 0x00
#define UARTFR 0x18
#define UARTFR_BUSY (1U << 3) /* bytes in the FIFO or in the shift register */
#define UARTFR_TXFF (1U << 5) /* FIFO full */
#define UARTFR_TXFE (1U << 7) /* FIFO empty */
#define UARTCR 0x30
#define UARTCR_UARTEN (1U << 0)
#define UARTCR_TXE (1U << 8)

static void pl011_start(volatile void *registers)
{
	const uint32_t enabled = UARTCR_UARTEN | UARTCR_TXE;
	uint32_t control = read32(registers, UARTCR);

	if ((control & enabled) != enabled) {
		write32(registers, UARTCR, control | enabled);
	}
}

static bool pl011_ready(volatile void *registers)
{
	return (read32(registers, UARTFR) & UARTFR_TXFF) == 0;
}

static void pl011_put(volatile void *registers, uint8_t byte)
{
	write32(registers, UARTDR, byte);
}

static bool pl011_drained(volatile void *registers)
{
	return (read32(registers, UARTFR) & (UARTFR_BUSY | UARTFR_TXFE)) == UARTFR_TXFE;
}

static const char *const pl011_compatible[] = {"arm,pl011", NULL};

static const struct uart_driver pl011 = {
	.name = "pl011",
	.compatible = pl011_compatible,
	.fifo_bytes = 16, /* 32 from r1p5 on */
	.start = pl011_start,
	.ready = pl011_ready,
	.put = pl011_put,
	.drained = pl011_drained,
};

UART_DRIVER(pl011);
