#include "environment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const allowed[] = {"PATH", "HOME",     "USER", "LOGNAME", "SHELL",
                                      "LANG", "LANGUAGE", "TZ",   "TMPDIR"};
/* There is no terminal, and nobody to leaf through pages. */
static const char *const fixed[] = {"TERM=dumb", "PAGER=cat"};
static const char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";

enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]), FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool environment_is_key(const char *name)
{
    static const char *const keys[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                       "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
                                       "LM_API_TOKEN"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(name, keys[i]) == 0)
            return true;
    return ends_with(name, "API_KEY");
}

static bool is_named(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_fixed(const char *entry)
{
    for (size_t i = 0; i < FIXED; i++)
        if (strncmp(entry, fixed[i], strcspn(fixed[i], "=") + 1) == 0)
            return true;
    return false;
}

static bool is_allowed(const char *entry, char *const *more)
{
    if (is_fixed(entry))
        return false;
    if (strncmp(entry, "LC_", 3) == 0 && strchr(entry, '='))
        return true;
    for (size_t i = 0; i < ALLOWED; i++)
        if (is_named(entry, allowed[i]))
            return true;
    for (size_t i = 0; more && more[i]; i++)
        if (is_named(entry, more[i]))
            return true;
    return false;
}

/* The entries of the block, into `out` unless it is NULL; returns how many, and their bytes. */
static size_t collect(char *const *more, const char **out, size_t *bytes)
{
    size_t count = 0;
    bool has_path = false;
    *bytes = 0;
    for (char **entry = environ; entry && *entry; entry++) {
        if (!is_allowed(*entry, more))
            continue;
        has_path = has_path || is_named(*entry, "PATH");
        *bytes += strlen(*entry) + 1;
        if (out)
            out[count] = *entry;
        count++;
    }
    for (size_t i = has_path; i < FIXED + 1; i++) {
        const char *entry = i == 0 ? path : fixed[i - 1];
        *bytes += strlen(entry) + 1;
        if (out)
            out[count] = entry;
        count++;
    }
    return count;
}

char **environment_make(char *const *more)
{
    size_t bytes, count = collect(more, NULL, &bytes);
    char **block = malloc((count + 1) * sizeof(*block) + bytes);
    if (!block)
        return NULL;
    collect(more, (const char **)(uintptr_t)block, &bytes);
    char *at = (char *)(block + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(block[i]) + 1;
        block[i] = memcpy(at, block[i], length);
        at += length;
    }
    block[count] = NULL;
    return block;
}
