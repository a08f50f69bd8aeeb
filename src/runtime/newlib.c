/*
 * What newlib asks of the system below it. Of newlib the image uses what formats into memory and
 * handles strings; its streams are not there on purpose: output has one way out, console_write, and
 * a stray printf does not link. Core 0 only. Also the two symbols that Debian's libfdt archive,
 * which is built with stack protection, looks for.
 */
#include <errno.h>
#include <stddef.h>
#include <reent.h>
#include <stdint.h>

#include "el1bench/panic.h"

void *_malloc_r(struct _reent *reent, size_t bytes);
void *_realloc_r(struct _reent *reent, void *block, size_t bytes);
void _free_r(struct _reent *reent, void *block);
void _exit(int code);

/* There is no heap. newlib's formatting asks for one only where it prints into a growing string. */
void *_malloc_r(struct _reent *reent, size_t bytes)
{
	(void)bytes;
	reent->_errno = ENOMEM;
	return NULL;
}

void *_realloc_r(struct _reent *reent, void *block, size_t bytes)
{
	(void)block;
	return _malloc_r(reent, bytes);
}

void _free_r(struct _reent *reent, void *block)
{
	(void)reent;
	(void)block;
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
