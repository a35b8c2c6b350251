#include "plugin/elf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/elf_file.h"

#define SDK_ADVICE "end the plugin with MORTISE_PLUGIN(…) of <mortise/tool.h>"

/* ---- what a plugin exports ---- */

static bool find_exports(struct elf_file *file, Elf64_Sym *stamp, struct error *error)
{
    Elf64_Sym factory;
    bool has_stamp = elf_file_find(file, "mortise_plugin_stamp", stamp);
    bool has_factory = elf_file_find(file, "tool_definition", &factory);
    if (!has_stamp && !has_factory)
        return error_set(error, ERROR_PLUGIN, "it is no mortise plugin: " SDK_ADVICE);
    if (!has_stamp)
        return error_set(error, ERROR_PLUGIN,
                         "it has no mortise_plugin_stamp (or hides it): " SDK_ADVICE
                         ", or export it with MORTISE_EXPORT");
    if (!has_factory)
        return error_set(error, ERROR_PLUGIN,
                         "it has no tool_definition() (or hides it): " SDK_ADVICE
                         ", or export it with MORTISE_EXPORT");
    if (ELF64_ST_TYPE(factory.st_info) == STT_OBJECT || ELF64_ST_TYPE(factory.st_info) == STT_TLS)
        return error_set(error, ERROR_PLUGIN, "its tool_definition is no function: " SDK_ADVICE);
    return true;
}

static bool check_stamp(struct elf_file *file, const Elf64_Sym *symbol, mortise_stamp *stamp,
                        struct error *error)
{
    if (symbol->st_size < sizeof(*stamp) ||
        !elf_file_load(file, symbol->st_value, stamp, sizeof(*stamp)) ||
        stamp->magic != MORTISE_MAGIC)
        return error_set(error, ERROR_PLUGIN,
                         "its mortise_plugin_stamp holds no stamp: " SDK_ADVICE);
    /* A newer minor number only added what a plugin must look for before it uses it. */
    if (stamp->abi_major == MORTISE_ABI_MAJOR)
        return true;
    return error_set(error, ERROR_PLUGIN,
                     "it is built for plugin interface %u.%u, this host has %u.%u: %s",
                     (unsigned)stamp->abi_major, (unsigned)stamp->abi_minor, MORTISE_ABI_MAJOR,
                     MORTISE_ABI_MINOR,
                     stamp->abi_major > MORTISE_ABI_MAJOR
                         ? "update mortise, or rebuild the plugin with this host's SDK"
                         : "rebuild the plugin with this host's SDK");
}

/* ---- sanitizers ---- */

/* These check in their constructor that they were loaded first, and end the process if
 * they were not. */
static bool is_jealous(const char *library)
{
    static const char *const runtimes[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so",
                                           "libclang_rt."};
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        if (strncmp(library, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

static bool check_sanitizers(struct elf_file *file, struct error *error)
{
    for (size_t i = 0; i < file->needed_count; i++) {
        char name[ELF_MAX_STRING];
        if (!elf_file_string(file, file->needed[i], name) || !is_jealous(name))
            continue;
        void *present = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (!present)
            return error_set(error, ERROR_PLUGIN,
                             "it is built with a sanitizer (%s) and this host is not: build both "
                             "with the same sanitizers, or the plugin without",
                             name);
        dlclose(present); /* only the count of the RTLD_NOLOAD */
    }
    return true;
}

/* ---- libraries of its own ---- */

/* A folder that is not there can be made in the next one above. */
static bool is_of_root(char *folder)
{
    struct stat status;
    char *slash;
    while (stat(folder, &status) != 0 && (slash = strrchr(folder, '/')) && slash > folder)
        *slash = '\0';
    return folder[0] == '/' && stat(folder, &status) == 0 && status.st_uid == 0 &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static bool check_search(const char *paths, struct error *error)
{
    for (const char *at = paths; *at;) {
        size_t length = strcspn(at, ":");
        char *folder = strndup(at, length);
        if (!folder)
            return error_memory(error);
        bool ok = !strchr(folder, '$') && is_of_root(folder);
        free(folder);
        if (!ok)
            return error_set(error, ERROR_PLUGIN,
                             "it looks for libraries in '%.*s', so what runs is more than the file "
                             "that is trusted: build it without that RUNPATH, or link them "
                             "statically",
                             (int)(length < 200 ? length : 200), at);
        at += length + (at[length] == ':');
    }
    return true;
}

bool elf_is_alone(int fd, struct error *error)
{
    struct elf_file file;
    char text[ELF_MAX_STRING];
    if (!elf_file_open(&file, fd, error) || !elf_file_read(&file, error))
        return false;
    for (size_t i = 0; i < file.needed_count; i++)
        if (elf_file_string(&file, file.needed[i], text) && strchr(text, '/'))
            return error_set(error, ERROR_PLUGIN,
                             "it needs the library '%.200s', so what runs is more than the file "
                             "that is trusted: link it by its name, or statically",
                             text);
    return !file.runpath || !elf_file_string(&file, file.runpath, text) ||
           check_search(text, error);
}

/* ---- the whole ---- */

static bool inspect(struct elf_file *file, struct elf_info *info, struct error *error)
{
    Elf64_Sym stamp;
    return elf_file_read(file, error) && find_exports(file, &stamp, error) &&
           check_stamp(file, &stamp, &info->stamp, error) && check_sanitizers(file, error);
}

bool elf_inspect(int fd, struct elf_info *info, struct error *error)
{
    struct elf_file file;
    return elf_file_open(&file, fd, error) && inspect(&file, info, error);
}

bool elf_inspect_memory(const void *data, size_t size, struct elf_info *info, struct error *error)
{
    struct elf_file file;
    elf_file_open_memory(&file, data, size);
    return inspect(&file, info, error);
}
