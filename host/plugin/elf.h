/*
 * elf - what a file says about itself before any of its code can run.
 *
 * dlopen() of a truncated object kills the process, and loading an object runs its
 * constructors; so the header, the extents, the dynamic table and the stamp are read from
 * the file first.  Everything in the file is hostile: no offset is trusted.  What this
 * cannot do is make a plugin harmless: once it is loaded it may do what the host may do.
 */
#ifndef PLUGIN_ELF_H
#define PLUGIN_ELF_H

#include <stddef.h>
#include <stdint.h>

#include <mortise/plugin.h>

#include "base/error.h"

struct elf_info {
    mortise_stamp stamp;
};

/* Reads an open file.  False with a reason and what to do ("it is built for aarch64, this
 * host is x86-64: rebuild it", "it has no mortise_plugin_stamp: …"), kind plugin.  Checks:
 * not empty, ELF, class, machine, shared object, every segment inside the file, both
 * exported symbols there, magic, major version equal, minor not above the host's, and no
 * sanitizer that would end a process that was built without it. */
bool elf_inspect(int fd, struct elf_info *info, struct error *error);
/* The same for a file's bytes. */
bool elf_inspect_memory(const void *data, size_t size, struct elf_info *info, struct error *error);

/* Whether the libraries that it needs are looked for only where root alone can put them; what comes
 * with the object is not in its bytes.  Kind plugin. */
bool elf_is_alone(int fd, struct error *error);

/* Whether every undefined symbol can be had from this process or from the libraries that
 * the object names.  Libraries of the system are loaded to see; those that come with the
 * object (a path, or found by its RPATH or RUNPATH) are only read, as is the object.
 * False names the first symbol or library that is missing. */
bool elf_symbols_resolve(int fd, struct error *error);

#endif
