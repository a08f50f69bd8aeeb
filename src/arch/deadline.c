/*
 * The start of a bounded wait, for all to whom its time is nothing: a copy in each would be a large
 * part of them.
 */
#include "el1bench/counter.h"
#include "el1bench/timed.h"

TIMED struct deadline deadline_in_ms(uint32_t milliseconds)
{
	return deadline_in_ms_inline(milliseconds);
}
