/*
 * The RAM that samples live in: one run of free memory, handed out upwards and never given back,
 * but for `arena_mark` / `arena_release` around scratch use. Core 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Takes [start, start + bytes), mapped, into use. */
void arena_start(void *start, size_t bytes);

/* `bytes` aligned to 64, or NULL if there is no room. Not cleared. */
void *arena_take(size_t bytes);

/* Bytes still to be had. */
size_t arena_free_bytes(void);

/* Scratch: `arena_release(arena_mark())` gives back what was taken in between. */
size_t arena_mark(void);
void arena_release(size_t mark);
