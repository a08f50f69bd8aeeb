/*
 * The first and only process of the Linux guest in tests: says that it is there, asks for a login,
 * and waits for ever. No libc: three system calls of Linux on arm64.
 */

#define NR_PPOLL 73
#define NR_WRITE 64

static long system_call(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = 0;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

static void say(const char *text)
{
	long length = 0;

	while (text[length] != '\0') {
		length++;
	}
	(void)system_call(NR_WRITE, 1, (long)text, length);
}

void _start(void);
void _start(void)
{
	say("init: started\n");
	say("guest login: ");
	for (;;) {
		(void)system_call(NR_PPOLL, 0, 0, 0);
	}
}
