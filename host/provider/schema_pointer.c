#include "provider/schema_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/text.h"

/* One step of a pointer, with %XX and ~0, ~1 resolved.  Returns behind it. */
static const char *read_step(const char *at, struct text *step)
{
    for (; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '%' && hex_byte(at + 1) >= 0) {
            c = (char)hex_byte(at + 1);
            at += 2;
        } else if (c == '~' && (at[1] == '0' || at[1] == '1')) {
            c = *++at == '0' ? '~' : '/';
        }
        text_putc(step, c);
    }
    return at;
}

const json_t *schema_pointed_at(const json_t *root, const char *reference, bool *failed)
{
    const json_t *at = root;
    if (!reference || *reference++ != '#')
        return NULL;
    while (at && *reference == '/') {
        struct text step = TEXT_INIT;
        reference = read_step(reference + 1, &step);
        at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(text_cstr(&step), NULL, 10))
                               : json_object_get(at, text_cstr(&step));
        if (step.failed)
            *failed = true;
        text_release(&step);
    }
    return *reference ? NULL : at;
}
