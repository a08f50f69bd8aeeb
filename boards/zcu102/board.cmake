# Xilinx ZCU102 (Zynq UltraScale+), as QEMU's `xlnx-zcu102` machine models it.
set(BOARD_DESCRIPTION "Xilinx ZCU102")

# A raw Image with text_offset 0 is placed 2 MiB above the start of RAM.
set(BOARD_LOAD_ADDRESS 0x00200000)
set(BOARD_TEXT_OFFSET 0)
set(BOARD_IMAGE_FLAGS 0xA)

# The machine has no tree of its own: it passes on the one given by -dtb, with -append in it.
set(BOARD_QEMU_MACHINE xlnx-zcu102)
set(BOARD_QEMU_CORES 4)
set(BOARD_QEMU_GICS 2)
set(BOARD_QEMU_LEVELS 1 2)
set(BOARD_QEMU_MEMORY_MIB 256)
set(BOARD_QEMU_OPTIONS -audiodev none,id=a)
set(BOARD_QEMU_NEEDS_TREE TRUE)
