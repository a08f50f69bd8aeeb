# QEMU's `virt` machine. It hands the image a tree of its own; board.dts is only the fallback.
set(BOARD_DESCRIPTION "QEMU virt")

# A raw Image with text_offset 0 is placed 2 MiB above the start of RAM.
set(BOARD_LOAD_ADDRESS 0x40200000)
set(BOARD_TEXT_OFFSET 0)
set(BOARD_IMAGE_FLAGS 0xA)

set(BOARD_QEMU_MACHINE virt)
set(BOARD_QEMU_CPU cortex-a53)
set(BOARD_QEMU_GICS 2 3)
set(BOARD_QEMU_LEVELS 1 2)
set(BOARD_QEMU_MEMORY_MIB 256)
set(BOARD_QEMU_FIRMWARE_LOAD_ADDRESS 0x40200000)
