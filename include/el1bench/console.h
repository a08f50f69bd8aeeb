/*
 * Text output, and the rule that there is none while timing. Core 0 only (the panic path excepted).
 * Suites, drivers and the engine's timed part never include this header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uart_driver;

#define CONSOLE_CALLERS 3       /* return addresses that are kept of a refused write */
#define CONSOLE_KEPT_BYTES 1024 /* of refused text that can be shown later */

/* Takes the mapped registers of the console's UART into use. */
void console_start(const struct uart_driver *driver, volatile void *registers);

/* True once a UART is in use. */
bool console_started(void);

/*
 * From now on each byte takes the time of ten bits at `baud` (300 to 4,000,000), even on a
 * UART that takes none, an emulated one: the first bytes that fit the UART's FIFO are free, then
 * writing waits for the line. 0: as fast as the UART goes.
 */
void console_pace(uint32_t baud);

/*
 * Writes bytes, `\n` as CR LF, each wait for the FIFO bounded. While locked, nothing is printed:
 * the bytes are counted, the first CONSOLE_KEPT_BYTES are kept, and the lock's owner is told.
 */
void console_write(const char *text, size_t bytes);

/* Waits, bounded, until the last byte has left the UART. */
void console_drain(void);

/*
 * Drains, sets the UART's speed, and returns what `console_restore_speed` takes to go back. Only
 * after `console_can_speed` has said yes; whoever reads the line must have been told.
 */
bool console_can_speed(uint32_t baud);
uint32_t console_set_speed(uint32_t baud);
void console_restore_speed(uint32_t before);

/*
 * Told of each refused write, while timing: its size, and the return addresses of the innermost
 * callers, 0 where there are fewer.
 */
typedef void (*console_refused_function)(size_t bytes, const uint64_t callers[CONSOLE_CALLERS]);

/* Timing starts: no byte may pass until `console_unlock`. `refused` may be NULL. */
void console_lock(console_refused_function refused);
void console_unlock(void);

/* The exception path: prints whatever the lock says. */
void console_force_unlock(void);

/* Bytes that somebody tried to write while locked; the text that was kept of them. */
uint64_t console_refused_bytes(void);
const char *console_refused_text(size_t *bytes);

/* Bytes that have gone into the UART since the start. */
uint64_t console_bytes_written(void);
