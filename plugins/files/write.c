/* write_file: a new file, or one that was read, with all of its content. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "newline.h"
#include "target.h"
#include "text.h"

static mortise_status reply(mortise_call *call, const struct target *target, const char *data,
                            size_t length, bool kept_crlf)
{
    struct text text = TEXT_INIT;
    uint64_t lines = target_lines(data, length);
    text_printf(&text, "%s '%s': %" PRIu64 " line%s, ", target->exists ? "replaced" : "made",
                target->place->shown, lines, lines == 1 ? "" : "s");
    text_size(&text, length);
    if (target->folders_made)
        text_printf(&text, "; made %zu folder%s for it", target->folders_made,
                    target->folders_made == 1 ? "" : "s");
    if (kept_crlf)
        text_puts(&text, "; its lines end with CRLF as before");
    if (target->exists && target->status.st_nlink > 1)
        text_puts(&text, "; the other names of the old file (hard links) keep the old content");
    return text_reply(&text, call);
}

static mortise_status write_target(struct files *files, mortise_call *call, struct target *target,
                                   const void *what)
{
    const char *content = what;
    size_t length = strlen(content);
    if (target->exists) {
        mortise_status seen = target_check_seen(files, call, target, true);
        if (seen != MORTISE_OK)
            return seen;
    }
    /* read_file does not show the CR of CRLF, so a model that does not write it did not decide so
     */
    bool keep = target->exists && newline_is_crlf(target->data, target->length) &&
                !memchr(content, '\r', length);
    char *converted = keep ? newline_to_crlf(content, length, &length) : NULL;
    if (keep && !converted)
        return MORTISE_NO_MEMORY;
    struct text data = TEXT_INIT;
    /* nor does it show a byte order mark */
    if (target->exists && !text_mark(content, length))
        text_put(&data, target->data, text_mark(target->data, target->length));
    text_put(&data, converted ? converted : content, length);
    free(converted);
    mortise_status status = data.failed ? MORTISE_NO_MEMORY
                            : data.length > FILES_MOST_BYTES
                                ? place_fail(call, target->place, "write", EFBIG)
                                : target_save(files, call, target, data.data, data.length);
    if (status == MORTISE_OK)
        status = reply(call, target, data.data, data.length, keep);
    text_release(&data);
    return status;
}

mortise_status files_write(struct files *files, mortise_call *call, const char *path,
                           const char *content)
{
    return target_with(files, call, path, true, write_target, content);
}
