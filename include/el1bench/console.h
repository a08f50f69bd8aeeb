/*
 * Text output, and the rule that there is none while timing. Core 0 only (the panic path excepted).
 * newlib's stdout ends here. Suites, drivers and the engine's timed part never include this header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uart_driver;

/* Takes the mapped registers of the console's UART into use. */
void console_start(const struct uart_driver *driver, volatile void *registers);

/* True once a UART is in use. */
bool console_started(void);

/*
 * Writes bytes, `\n` as CR LF, each wait for the FIFO bounded. While locked, nothing is printed:
 * the bytes are counted and the caller's address is kept.
 */
void console_write(const char *text, size_t bytes);

/* Waits, bounded, until the last byte has left the UART. */
void console_drain(void);

/* Timing starts: no byte may pass until `console_unlock`. */
void console_lock(void);
void console_unlock(void);

/* The exception path: prints whatever the lock says. */
void console_force_unlock(void);

/* Bytes that somebody tried to write while locked, and the first culprit's return address. */
uint64_t console_refused_bytes(void);
uint64_t console_refused_from(void);

/* Bytes that have gone into the UART since the start. */
uint64_t console_bytes_written(void);
