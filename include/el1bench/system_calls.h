/*
 * What an EL0 program and the kernel agree on. A program starts with x0 = count and x1 = address of
 * its arguments, which are words; a system call is SVC #0 with its number in x8.
 */
#pragma once

enum system_call {
	SYSTEM_CALL_NOTHING, /* returns at once */
	SYSTEM_CALL_STARTED, /* x0 = counter at the program's first instruction */
	SYSTEM_CALL_EXIT,    /* x0 = a result, x1 = counter before the call; does not return */
	SYSTEM_CALL_RECEIVE, /* x0 = reply to the last message; returns the next one in x0 to x4 */
};

/* The embedded program does what its first argument says, between its start and its exit. */
enum program_task {
	TASK_NONE,
	TASK_CALL,         /* result: ticks of one SYSTEM_CALL_NOTHING */
	TASK_RESUME,       /* result: counter right after SYSTEM_CALL_NOTHING */
	TASK_READ,         /* reads from its second argument */
	TASK_JUMP,         /* calls its second argument; 0: an argument's address */
	TASK_OVERFLOW,     /* uses up its stack */
	TASK_SPIN,         /* never exits */
	TASK_UNKNOWN_CALL, /* a system call that there is none of */
};
