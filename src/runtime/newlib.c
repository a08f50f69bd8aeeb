/*
 * What newlib asks of the system below it: a console to write to, and a heap just large enough for
 * its own FILE structures (the image itself never allocates). Core 0 only. Also the two symbols
 * that Debian's libfdt archive, which is built with stack protection, looks for.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "el1bench/console.h"
#include "el1bench/panic.h"

/* newlib makes it a macro; these calls report through the variable behind it. */
#undef errno
extern int errno;

int _write(int file, const char *text, int bytes);
int _read(int file, char *text, int bytes);
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
int _lseek(int file, int offset, int whence);
void *_sbrk(ptrdiff_t bytes);
void _exit(int code);

#define HEAP_BYTES 4096

int _write(int file, const char *text, int bytes)
{
	(void)file;
	if (bytes > 0) {
		console_write(text, (size_t)bytes);
	}
	return bytes;
}

int _read(int file, char *text, int bytes)
{
	(void)file;
	(void)text;
	(void)bytes;
	return 0;
}

int _close(int file)
{
	(void)file;
	return -1;
}

int _fstat(int file, struct stat *status)
{
	(void)file;
	status->st_mode = S_IFCHR;
	return 0;
}

int _isatty(int file)
{
	(void)file;
	return 1;
}

int _lseek(int file, int offset, int whence)
{
	(void)file;
	(void)offset;
	(void)whence;
	return 0;
}

void *_sbrk(ptrdiff_t bytes)
{
	static uint8_t heap[HEAP_BYTES] __attribute__((aligned(16)));
	static ptrdiff_t used;
	void *start = &heap[used];

	if (bytes < -used || bytes > HEAP_BYTES - used) {
		errno = ENOMEM;
		return (void *)-1;
	}
	used += bytes;
	return start;
}

void _exit(int code)
{
	panic("the C library ended the program with code %d", code);
}

/* A fixed canary: it is there to catch mistakes, not attackers; its zero byte ends strings. */
extern const uintptr_t __stack_chk_guard;
const uintptr_t __stack_chk_guard = (uintptr_t)0x5bd1e995c3a400ffULL;

void __stack_chk_fail(void) __attribute__((noreturn));
void __stack_chk_fail(void)
{
	panic("the stack of a library function was overwritten");
}
