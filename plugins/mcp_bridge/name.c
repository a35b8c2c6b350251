#include "name.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { HASH_LENGTH = 8 };

/* FNV-1a: it tells names apart, and hides nothing. */
static uint32_t hash(uint32_t so_far, const char *text)
{
    for (; *text; text++)
        so_far = (so_far ^ (unsigned char)*text) * UINT32_C(16777619);
    return so_far;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Puts the names as far as there is room; true: as a whole. */
static bool put(char *out, size_t room, const char *server, const char *tool)
{
    const char *const parts[] = {server, "__", tool};
    size_t used = 0;
    for (size_t i = 0; i < 3; i++)
        for (const char *p = parts[i]; *p; p++) {
            if (used == room) {
                out[used] = '\0';
                return false;
            }
            out[used++] = is_plain(*p) ? *p : '_';
        }
    out[used] = '\0';
    return true;
}

void name_make_other(char out[NAME_SIZE], const char *server, const char *tool)
{
    uint32_t sum = hash(hash(hash(UINT32_C(2166136261), server), "\n"), tool);
    put(out, NAME_SIZE - 1 - HASH_LENGTH - 1, server, tool);
    snprintf(out + strlen(out), HASH_LENGTH + 2, "_%08" PRIx32, sum);
}

unsigned name_rounds(const char *server, const char *tool)
{
    char front[NAME_SIZE];
    unsigned rounds = 0;
    name_make(front, server, "");
    for (const char *part = tool, *end; part; part = end ? end + 2 : NULL) {
        rounds += strncmp(part, front, strlen(front)) == 0;
        end = strstr(part, "__");
    }
    return rounds;
}

void name_make(char out[NAME_SIZE], const char *server, const char *tool)
{
    if (!put(out, NAME_SIZE - 1, server, tool))
        name_make_other(out, server, tool);
}
