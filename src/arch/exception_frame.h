/*
 * Offsets into struct exception_frame for assembly; exception.c asserts them.
 */
#pragma once

#define FRAME_X 0
#define FRAME_SP 248
#define FRAME_ELR 256
#define FRAME_SPSR 264
#define FRAME_ESR 272
#define FRAME_FAR 280
#define FRAME_VECTOR 288
#define FRAME_BYTES 304 /* the structure, rounded up to the stack's alignment */
