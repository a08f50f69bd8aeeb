# Hardkernel Odroid-C4 (Amlogic S905X3), started from U-Boot with `go` or `booti`.
set(BOARD_DESCRIPTION "Hardkernel Odroid-C4")

# With text_offset equal to the load address neither U-Boot (vendor or mainline) moves the image.
set(BOARD_LOAD_ADDRESS 0x20000000)
set(BOARD_TEXT_OFFSET 0x20000000)
set(BOARD_IMAGE_FLAGS 0xA)

# QEMU has no such board; the same bytes start on `virt`, text_offset above the start of its RAM.
set(BOARD_QEMU_MACHINE virt)
set(BOARD_QEMU_CPU cortex-a53)
set(BOARD_QEMU_GICS 2 3)
set(BOARD_QEMU_LEVELS 1 2)
set(BOARD_QEMU_MEMORY_MIB 1024)
set(BOARD_QEMU_FIRMWARE_LOAD_ADDRESS 0x40200000)
