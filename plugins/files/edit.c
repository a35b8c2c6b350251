/* edit_file: exact texts of a file that was read, replaced: all of them or none. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "near.h"
#include "newline.h"
#include "target.h"
#include "text.h"

/* The content as it is after some of the edits. */
struct draft {
    mortise_call *call;
    const struct target *target;
    char *data;
    size_t length;
    bool is_crlf;
    size_t at, count; /* the edit that is made, from 1, of so many */
    struct text report;
};

/* How often `part` occurs, not overlapping, and the lines of the first ten. */
static size_t count_places(const struct draft *draft, const char *part, size_t length,
                           struct text *lines)
{
    const char *from = draft->data, *at = draft->data, *end = draft->data + draft->length;
    uint64_t line = 1;
    size_t found = 0;
    while ((at = memmem(at, (size_t)(end - at), part, length))) {
        for (; (from = memchr(from, '\n', (size_t)(at - from))); from++)
            line++;
        from = at;
        if (found++ < 10)
            text_printf(lines, "%s%" PRIu64, found > 1 ? ", " : "", line);
        at += length;
    }
    if (found > 10)
        text_puts(lines, ", ...");
    return found;
}

static bool replace(struct draft *draft, const char *old, size_t old_length, const char *new,
                    size_t new_length)
{
    struct text out = TEXT_INIT;
    const char *from = draft->data, *at, *end = draft->data + draft->length;
    while ((at = memmem(from, (size_t)(end - from), old, old_length))) {
        text_put(&out, from, (size_t)(at - from));
        text_put(&out, new, new_length);
        from = at + old_length;
    }
    text_put(&out, from, (size_t)(end - from));
    if (out.failed) {
        text_release(&out);
        return false;
    }
    free(draft->data);
    draft->data = out.data;
    draft->length = out.length;
    return true;
}

/* ---- errors ------------------------------------------------------------------------------- */

static mortise_status fail_edit(struct draft *draft, const char *code, struct text *why)
{
    struct text text = TEXT_INIT;
    if (draft->count > 1)
        text_printf(&text, "edit %zu of %zu: ", draft->at, draft->count);
    text_puts(&text, why->data ? why->data : "out of memory");
    text_puts(&text, draft->count > 1 ? "; none of the edits was made" : "; nothing was changed");
    mortise_status status =
        text.failed ? MORTISE_NO_MEMORY
                    : mortise_fail_as(draft->call, MORTISE_INVALID_INPUT, code, "%s", text.data);
    text_release(&text);
    text_release(why);
    return status;
}

static mortise_status fail_missing(struct draft *draft, const char *old)
{
    struct text why = TEXT_INIT;
    text_printf(&why, "old_text does not occur in '%s'%s", draft->target->place->shown,
                draft->at > 1 ? " (as the edits before this one leave it)" : "");
    near_describe(&why, draft->data, draft->length, old);
    return fail_edit(draft, "files.no_match", &why);
}

static mortise_status fail_ambiguous(struct draft *draft, size_t found, const struct text *lines)
{
    struct text why = TEXT_INIT;
    text_printf(&why,
                "old_text occurs %zu times in '%s' (lines %s): add lines around the place that is "
                "meant until it occurs once, or set replace_all",
                found, draft->target->place->shown, lines->data ? lines->data : "");
    return fail_edit(draft, "files.ambiguous", &why);
}

static mortise_status fail_useless(struct draft *draft, const char *words)
{
    struct text why = TEXT_INIT;
    text_puts(&why, words);
    return fail_edit(draft, "files.edit", &why);
}

/* ---- one edit
 * -------------------------------------------------------------------------------------- */

static mortise_status apply_texts(struct draft *draft, const struct edit *edit, const char *old,
                                  size_t old_length, const char *new, size_t new_length)
{
    struct text lines = TEXT_INIT;
    size_t found = count_places(draft, old, old_length, &lines);
    mortise_status status = MORTISE_OK;
    bool grows = new_length > old_length;
    if (found == 0)
        status = fail_missing(draft, edit->old_text);
    else if (found > 1 && !edit->replace_all)
        status = fail_ambiguous(draft, found, &lines);
    else if (grows && found > (FILES_MOST_BYTES - draft->length) / (new_length - old_length))
        status = fail_useless(draft, "the file would have more than 16 MB");
    else if (!replace(draft, old, old_length, new, new_length))
        status = MORTISE_NO_MEMORY;
    else
        text_printf(&draft->report, "%s%s %s", draft->at > 1 ? "; " : "",
                    found > 1 ? "lines" : "line", lines.data ? lines.data : "");
    text_release(&lines);
    return status;
}

/* Models write LF; where the file has CRLF, both texts get it.  In a file that has both, the old
 * text is looked for as it is before that. */
static mortise_status apply(struct draft *draft, const struct edit *edit)
{
    size_t old_length = strlen(edit->old_text), new_length = strlen(edit->new_text);
    if (!old_length)
        return fail_useless(draft, "old_text is empty: to make a file use write_file, to insert "
                                   "something give a line beside it and repeat it in new_text");
    if (strcmp(edit->old_text, edit->new_text) == 0)
        return fail_useless(draft, "old_text and new_text are the same");
    bool occurs = memmem(draft->data, draft->length, edit->old_text, old_length) != NULL;
    if (!draft->is_crlf && (occurs || !memmem(draft->data, draft->length, "\r\n", 2)))
        return apply_texts(draft, edit, edit->old_text, old_length, edit->new_text, new_length);
    char *old = newline_to_crlf(edit->old_text, old_length, &old_length);
    char *new = newline_to_crlf(edit->new_text, new_length, &new_length);
    mortise_status status =
        old && new ? apply_texts(draft, edit, old, old_length, new, new_length) : MORTISE_NO_MEMORY;
    free(old);
    free(new);
    return status;
}

/* ---- all of them
 * --------------------------------------------------------------------------------------- */

struct edit_request {
    const struct edit *edits;
    size_t count;
};

static mortise_status edit_target(struct files *files, mortise_call *call, struct target *target,
                                  const void *what)
{
    const struct edit_request *request = what;
    mortise_status status = target->exists ? target_check_seen(files, call, target, false)
                                           : place_fail(call, target->place, "edit", ENOENT);
    if (status != MORTISE_OK)
        return status;
    struct draft draft = {
        .call = call,
        .target = target,
        .data = malloc(target->length + 1),
        .length = target->length,
        .is_crlf = newline_is_crlf(target->data, target->length),
        .count = request->count,
    };
    status = draft.data ? MORTISE_OK : MORTISE_NO_MEMORY;
    if (draft.data)
        memcpy(draft.data, target->data, target->length + 1);
    for (size_t i = 0; i < request->count && status == MORTISE_OK; i++) {
        draft.at = i + 1;
        status = mortise_cancelled(call) ? MORTISE_CANCELLED : apply(&draft, &request->edits[i]);
    }
    if (status == MORTISE_OK)
        status = target_save(files, call, target, draft.data, draft.length);
    if (status == MORTISE_OK && !draft.report.failed)
        status = mortise_reply(call, "edited '%s': %s%s", target->place->shown,
                               draft.report.data ? draft.report.data : "",
                               target->status.st_nlink > 1
                                   ? "; the other names of the old file (hard links) keep the old "
                                     "content"
                                   : "");
    text_release(&draft.report);
    free(draft.data);
    return status;
}

mortise_status files_edit(struct files *files, mortise_call *call, const char *path,
                          const struct edit *edits, size_t count)
{
    const struct edit_request what = {edits, count};
    return target_with(files, call, path, false, edit_target, &what);
}
