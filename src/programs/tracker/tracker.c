/*
 * The resource server: keeps the model for others. Each message is a request to the model, each
 * reply what the model says.
 */
#include "../program.h"
#include "el1bench/model.h"

static struct model model;

/* The call that replies and receives; the message is in x0 to x4. */
static uint64_t serve(uint64_t reply)
{
	register uint64_t x0 __asm__("x0") = reply;
	register uint64_t x1 __asm__("x1");
	register uint64_t x2 __asm__("x2");
	register uint64_t x3 __asm__("x3");
	register uint64_t x4 __asm__("x4");
	register uint64_t x8 __asm__("x8") = SYSTEM_CALL_RECEIVE;

	__asm__ volatile("svc #0"
			 : "+r"(x0), "=r"(x1), "=r"(x2), "=r"(x3), "=r"(x4)
			 : "r"(x8)
			 : "memory");
	return model_request(&model, x0, x1, x2, x3, x4);
}

void program_main(uint64_t count, const uint64_t *arguments, uint64_t stamp)
{
	uint64_t reply = 0;

	(void)count;
	(void)arguments;
	model_start(&model);
	(void)system_call(SYSTEM_CALL_STARTED, stamp, 0);
	for (;;) {
		reply = serve(reply);
	}
}
