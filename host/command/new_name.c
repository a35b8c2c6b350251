#include "command/new_name.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string.h>

#include "plugin/meta.h"

static bool among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* What a compiler or a header that plugins include takes for itself and dlsym() does not know. */
static const char *const taken_in_c[] = {
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "constexpr",
    "continue", "default", "do", "double", "else", "enum", "extern", "false", "float", "for",
    "goto", "if", "inline", "int", "long", "nullptr", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "static_assert", "struct", "switch", "thread_local", "true",
    "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while",
    "alloca", "assert", "errno", "fpclassify", "isfinite", "isgreater", "isgreaterequal", "isless",
    "islessequal", "islessgreater", "isnormal", "isunordered", "jmp_buf", "linux", "noreturn",
    "offsetof", "setjmp", "signbit", "sigsetjmp", "stderr", "stdin", "stdout", "unix", "va_arg",
    "va_copy", "va_end", "va_list", "va_start",
    /* parameters in the SDK's macros, and what is exported */
    "args", "call", "main", "self", "tool_definition", NULL,
};

static bool in_c_library(const char *word)
{
    void *math = dlopen(LIBM_SO, RTLD_LAZY);
    bool found = dlsym(RTLD_DEFAULT, word) || (math && dlsym(math, word));
    if (math)
        dlclose(math);
    return found;
}

static bool is_taken_in_c(const char *word)
{
    bool is_macro = !strpbrk(word, "abcdefghijklmnopqrstuvwxyz"); /* or looks like one */
    bool is_type = ends_with(word, "_t");
    bool is_ours = begins_with(word, "mortise") || begins_with(word, "MORTISE");
    return is_macro || is_type || is_ours || (word[0] >= '0' && word[0] <= '9') ||
           among(word, taken_in_c) || in_c_library(word);
}

/* Targets that no project can have; ALL_BUILD and its like are for other generators. */
static const char *const taken_in_cmake[] = {
    "all", "clean", "depend", "edit_cache", "help", "install", "list_install_components",
    "package", "package_source", "preinstall", "rebuild_cache", "test", NULL,
};

bool new_name_make(struct new_name *out, const char *kind, const char *name, struct error *error)
{
    size_t length = strlen(name);
    if (!name_valid(name) || length > NEW_NAME_MAX || name[0] == '-' || name[0] == '_')
        return error_set(error, ERROR_USAGE,
                         "no %s can be called '%.80s': a name has 1 to %d letters, digits, '_' and "
                         "'-', and begins with a letter or a digit",
                         kind, name, NEW_NAME_MAX);
    if (among(name, taken_in_cmake))
        return error_set(error, ERROR_USAGE,
                         "no %s can be called '%s', which CMake has a target for; try '%s-%s'",
                         kind, name, name, kind);
    *out = (struct new_name){.kind = kind, .name = name};
    char word[NEW_NAME_MAX + 1];
    snprintf(word, sizeof(word), "%s", name);
    for (char *c = word; (c = strchr(c, '-'));)
        *c = '_';
    snprintf(out->identifier, sizeof(out->identifier), "%s%s", is_taken_in_c(word) ? "do_" : "",
             word);
    return true;
}
