/*
 * The image's layout: linked at IMAGE_VA, loaded anywhere that is 2 MiB-aligned. The load addresses
 * in the ELF file are the board's (LOAD_ADDRESS), for loaders that read them.
 *
 * Code, constants and data each start on a page of their own, since they are mapped with different
 * permissions (and since QEMU makes stores into a page that also holds code ten times slower).
 * Each boundary has a symbol. Sections that must not be there are named at the end and asserted
 * empty; any other unknown section fails the link.
 */
#include "el1bench/mmu.h"

#define PAGE 4096

ENTRY(image_start)

PHDRS
{
	code PT_LOAD FLAGS(5);
	constants PT_LOAD FLAGS(4);
	data PT_LOAD FLAGS(6);
}

SECTIONS
{
	. = IMAGE_VA;
	image_start = .;

	/*
	 * The Image header comes first, then what runs before the MMU is on. Vector tables are
	 * aligned to 2 KiB; this order leaves the smallest gaps before them.
	 */
	.text : AT(LOAD_ADDRESS) {
		KEEP(*(.head.text))
		*(.text.boot)
		*(.text.boot.*)
		. = ALIGN(64);
		timed_text_start = .;
		*(.text.timed)
		light_handlers_start = .;
		*(.text.timed.light)
		light_handlers_end = .;
		*(.text.timed.entry)
		timed_text_end = .;
		*(.text.vectors)
		. = ALIGN(64);
		*(.text .text.*)
		. = ALIGN(PAGE);
	} :code
	text_end = .;

	rodata_start = .;
	.rodata : {
		*(.rodata .rodata.*)
		*(.got .got.plt)
		. = ALIGN(8);
		benchmarks_start = .;
		KEEP(*(SORT(.benchmarks*)))
		benchmarks_end = .;
		uart_drivers_start = .;
		KEEP(*(SORT(.uart_drivers*)))
		uart_drivers_end = .;
		watchdog_drivers_start = .;
		KEEP(*(SORT(.watchdog_drivers*)))
		watchdog_drivers_end = .;
		*(.symbols)
		. = ALIGN(PAGE);
	} :constants
	rodata_end = .;

	data_start = .;
	.data : {
		*(.data .data.*)
	} :data
	/* Outside of the section, so that the file does not carry the rest of the page. */
	. = ALIGN(PAGE);
	data_end = .;

	.bss (NOLOAD) : ALIGN(16) {
		bss_start = .;
		*(.bss .bss.* COMMON)
		. = ALIGN(16);
		bss_end = .;
		. = ALIGN(PAGE);
	} :data

	/* Page tables and stacks: not cleared with .bss, each user sees to its own. */
	.pages (NOLOAD) : {
		*(.sbss.page_tables)
		. = ALIGN(PAGE);
		*(.sbss.stacks)
		. = ALIGN(PAGE);
	} :data
	image_end = .;

	/* For the Image header: everything that the image occupies, cleared memory included. */
	image_size = ABSOLUTE(image_end - image_start);

	/* Nothing here would be set up or called. */
	.rela.dyn : { *(.rela.*) *(.rela) }
	.plt : { *(.plt) *(.iplt) *(.igot.plt) *(.igot) }
	.init_array : {
		*(.preinit_array .preinit_array.* .init_array .init_array.*)
		*(.fini_array .fini_array.* .ctors .ctors.* .dtors .dtors.*)
	}
	.tdata : { *(.tdata .tdata.* .tbss .tbss.*) }

	.debug_info 0 : { *(.debug_info) }
	.debug_abbrev 0 : { *(.debug_abbrev) }
	.debug_aranges 0 : { *(.debug_aranges) }
	.debug_line 0 : { *(.debug_line) }
	.debug_line_str 0 : { *(.debug_line_str) }
	.debug_str 0 : { *(.debug_str) }
	.debug_loc 0 : { *(.debug_loc) }
	.debug_loclists 0 : { *(.debug_loclists) }
	.debug_ranges 0 : { *(.debug_ranges) }
	.debug_rnglists 0 : { *(.debug_rnglists) }
	.debug_frame 0 : { *(.debug_frame) }

	/DISCARD/ : {
		*(.comment)
		*(.note .note.*)
		*(.eh_frame .eh_frame_hdr)
	}
}

ASSERT(SIZEOF(.rela.dyn) == 0, "the image must not need relocations")
ASSERT(SIZEOF(.plt) == 0, "the image must not need indirect functions")
ASSERT(SIZEOF(.init_array) == 0, "nobody calls constructors in the image")
ASSERT(SIZEOF(.tdata) == 0, "the image has no thread-local storage")
ASSERT(LOAD_ADDRESS % 0x200000 == 0, "the load address must be 2 MiB-aligned")
