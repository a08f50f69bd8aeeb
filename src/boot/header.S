/*
 * The arm64 Image header (Linux, Documentation/arch/arm64/booting.rst): the image's first 64 bytes.
 * Its first instruction is the entry point of every way in, `booti`, `go`, QEMU's -kernel.
 */
	.section .head.text, "ax", %progbits

	/* IMAGE_TEXT_OFFSET and IMAGE_FLAGS come from the board. */
	.global image_header
image_header:
	b	entry
	.inst	0xd503201f              /* code1: nop */
	.quad	IMAGE_TEXT_OFFSET
	.quad	image_size              /* with bss and stacks; never 0 */
	.quad	IMAGE_FLAGS
	.quad	0
	.quad	0
	.quad	0
	.ascii	"ARM\x64"
	.long	0
