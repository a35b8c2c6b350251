#include "service/owner.h"

#include <ctype.h>
#include <string.h>

enum { MAX_COMPONENT = 240 }; /* NAME_MAX is 255 */

static void encode(struct text *out, const char *id)
{
    for (size_t i = 0; id[i]; i++) {
        unsigned char byte = (unsigned char)id[i];
        bool plain = byte < 0x80 && (isalnum(byte) || strchr("_-", byte) || (byte == '.' && i > 0));
        if (plain)
            text_putc(out, id[i]);
        else
            text_printf(out, "%%%02X", byte);
    }
}

static bool end(struct text *out, size_t start, struct error *error)
{
    if (out->failed)
        return error_memory(error);
    return strlen(strchr(out->data + start, '/') + 1) <= MAX_COMPONENT ||
           error_set(error, ERROR_INTERNAL, "'%.40s…' is too long to keep anything for it",
                     out->data + start);
}

static bool write_owner(struct text *out, const char *kind, const char *id, struct error *error)
{
    size_t start = out->length;
    text_puts(out, kind);
    text_putc(out, '/');
    encode(out, id);
    return end(out, start, error);
}

bool owner_of_session(struct text *out, const char *session, struct error *error)
{
    return write_owner(out, "session", session, error);
}

bool owner_of_run(struct text *out, const char *invocation, struct error *error)
{
    return write_owner(out, OWNER_RUNS, invocation, error);
}

bool owner_of_user(struct text *out, const char *tenant, const char *user, struct error *error)
{
    size_t start = out->length;
    text_puts(out, "user/");
    encode(out, tenant);
    text_putc(out, '+');
    encode(out, user);
    return end(out, start, error);
}

bool owner_of_app(struct text *out, const char *app, struct error *error)
{
    return write_owner(out, "app", app, error);
}
