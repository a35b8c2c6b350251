/*
 * elf_file - reads a shared object's tables, as far as elf.c and elf_symbols.c need them.
 *
 * All reads are checked against the size of the file; a small plugin is read with three
 * calls.  Strings and symbols are found where the dynamic linker will look for them.
 */
#ifndef PLUGIN_ELF_FILE_H
#define PLUGIN_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ELF_WINDOW_BYTES 8192
#define ELF_MAX_SEGMENTS 64
#define ELF_MAX_NEEDED   64
#define ELF_MAX_STRING   4096

/* Bytes of the file that were read before somebody asked for them. */
struct elf_window {
    uint64_t offset;
    size_t length;
    unsigned char bytes[ELF_WINDOW_BYTES];
};

struct elf_file {
    /* where the bytes are: a descriptor, or memory */
    int fd;
    const unsigned char *memory;
    uint64_t size;
    struct elf_window head;  /* of the file's start, where the tables of a small one are */
    struct elf_window other; /* where the last read outside of it was */

    Elf64_Ehdr header;
    Elf64_Phdr segments[ELF_MAX_SEGMENTS];
    size_t segment_count;

    /* of the dynamic table; addresses, 0 = absent */
    uint64_t strings, string_bytes;
    uint64_t symbols;
    uint64_t hash, gnu_hash;
    uint64_t flags_1;
    uint64_t runpath; /* offset into the strings, 0 = none */
    uint64_t needed[ELF_MAX_NEEDED];
    size_t needed_count;
};

/* Nothing is read yet.  False: fstat() failed. */
bool elf_file_open(struct elf_file *file, int fd, struct error *error);
void elf_file_open_memory(struct elf_file *file, const void *data, size_t size);

/* Header, segments and dynamic table, checked. */
bool elf_file_read(struct elf_file *file, struct error *error);

/* Copies a string of the dynamic string table; false when it does not end in time. */
bool elf_file_string(struct elf_file *file, uint64_t offset, char out[ELF_MAX_STRING]);
/* A defined symbol, through the hash table that the dynamic linker uses. */
bool elf_file_find(struct elf_file *file, const char *name, Elf64_Sym *symbol);
/* Symbol `index`; undefined ones lie below elf_file_undefined_end(). */
bool elf_file_symbol(struct elf_file *file, uint64_t index, Elf64_Sym *symbol);
uint64_t elf_file_undefined_end(struct elf_file *file);
/* Bytes at an address as it will be once loaded; false where the file has none. */
bool elf_file_load(struct elf_file *file, uint64_t address, void *out, size_t length);

#endif
