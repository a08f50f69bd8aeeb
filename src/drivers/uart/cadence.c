/*
 * Cadence UART of Zynq and ZynqMP (UG1085, chapter UART Controller). Keeps the line settings that
 * firmware left, enables the transmitter (its reset state is off) and never resets the FIFO.
 */
#include <stddef.h>

#include "el1bench/mmio.h"
#include "el1bench/uart.h"

#define CONTROL 0x00
#define CONTROL_RXRES (1U << 0) /* RXRES, TXRES: writing 1 empties a FIFO */
#define CONTROL_TXRES (1U << 1)
#define CONTROL_TXEN (1U << 4)
#define CONTROL_TXDIS (1U << 5) /* wins over TXEN */
#define STATUS 0x2c
#define STATUS_TXEMPTY (1U << 3)
#define STATUS_TXFULL (1U << 4)
#define STATUS_TACTIVE (1U << 11) /* the shift register still sends */
#define FIFO 0x30

static void cadence_start(volatile void *registers)
{
	uint32_t control = read32(registers, CONTROL);

	if ((control & (CONTROL_TXEN | CONTROL_TXDIS)) != CONTROL_TXEN) {
		control &= ~(CONTROL_TXDIS | CONTROL_RXRES | CONTROL_TXRES);
		write32(registers, CONTROL, control | CONTROL_TXEN);
	}
}

static bool cadence_ready(volatile void *registers)
{
	return (read32(registers, STATUS) & STATUS_TXFULL) == 0;
}

static void cadence_put(volatile void *registers, uint8_t byte)
{
	write32(registers, FIFO, byte);
}

static bool cadence_drained(volatile void *registers)
{
	return (read32(registers, STATUS) & (STATUS_TXEMPTY | STATUS_TACTIVE)) == STATUS_TXEMPTY;
}

static const char *const cadence_compatible[] = {
	"xlnx,zynqmp-uart", "cdns,uart-r1p12", "xlnx,xuartps", "cdns,uart-r1p8", NULL,
};

static const struct uart_driver cadence = {
	.name = "cadence",
	.compatible = cadence_compatible,
	.fifo_bytes = 64,
	.start = cadence_start,
	.ready = cadence_ready,
	.put = cadence_put,
	.drained = cadence_drained,
};

UART_DRIVER(cadence);
