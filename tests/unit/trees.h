/*
 * Device trees for host tests: real ones, as QEMU makes them for its machines, and ones written
 * down in the test and compiled by dtc. Each comes in a heap block of exactly its size, so that the
 * address sanitizer sees every access beyond it.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libfdt.h>

#include "el1bench/tree.h"

struct test_tree {
	void *blob;
	size_t bytes;
};

/* Reads a blob and packs it, since QEMU's are padded to 1 MiB; ends the test program on failure. */
static struct test_tree tree_from_file(const char *path)
{
	static uint8_t buffer[4 * 1024 * 1024];
	FILE *file = fopen(path, "rb");
	struct test_tree tree;
	size_t bytes = file == NULL ? 0 : fread(buffer, 1, sizeof(buffer), file);

	if (bytes == 0 || fdt_check_header(buffer) != 0 || fdt_pack(buffer) != 0) {
		fprintf(stderr, "no tree came out: %s\n", path);
		exit(1);
	}
	fclose(file);
	tree.bytes = fdt_totalsize(buffer);
	tree.blob = malloc(tree.bytes);
	memcpy(tree.blob, buffer, tree.bytes);
	(void)tree_valid(tree.blob, tree.bytes);
	return tree;
}

static struct test_tree tree_from_command(const char *format, const char *input)
{
	char path[] = "/tmp/el1bench-tree-XXXXXX";
	int file = mkstemp(path);
	char command[512];
	struct test_tree tree;
	FILE *pipe;

	if (file < 0) {
		perror("mkstemp");
		exit(1);
	}
	close(file);
	snprintf(command, sizeof(command), format, path);
	pipe = popen(command, "w");
	if (pipe == NULL || fputs(input, pipe) < 0 || pclose(pipe) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
	tree = tree_from_file(path);
	unlink(path);
	return tree;
}

/* Compiles a tree; the text is what follows `/dts-v1/;`. */
static inline struct test_tree tree_from_source(const char *source)
{
	char text[16384];

	snprintf(text, sizeof(text), "/dts-v1/;\n%s", source);
	return tree_from_command("dtc -q -I dts -O dtb -o %s -", text);
}

/* The tree that QEMU makes for `-M virt` with these further properties of the machine. */
static inline struct test_tree tree_from_qemu(const char *properties, unsigned int cores)
{
	char format[256];

	snprintf(format, sizeof(format),
		 "qemu-system-aarch64 -M virt,%s,dumpdtb=%%s -cpu cortex-a53 -smp %u -m 256"
		 " -nic none -display none 2>/dev/null",
		 properties, cores);
	return tree_from_command(format, "");
}

static inline void tree_free(struct test_tree *tree)
{
	free(tree->blob);
	tree->blob = NULL;
}
