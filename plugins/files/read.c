/* read_file: lines of a text, or an image as an attachment. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "files.h"
#include "kind.h"
#include "place.h"
#include "text.h"

#define ATTACH_BYTES (10u * 1024 * 1024)
/* Of a file that is too large to be read as a whole: how far lines are looked for. */
#define STREAM_BYTES (INT64_C(4) << 30)

/* Takes a text chunk by chunk and keeps the lines that are asked for. */
struct lines {
    const struct read_request *what;
    size_t most; /* bytes of a line */
    struct text out;
    int64_t line;            /* the number of the line that is begun, from 1 */
    int64_t first, last;     /* the lines that were kept; 0: none */
    size_t bad;              /* bytes that are not UTF-8 */
    size_t crlf;             /* of the lines that were kept */
    bool is_full;            /* what follows does not fit */
    bool is_cut;             /* some line was too long */
    bool is_marked;          /* the text begins with a byte order mark */
    bool is_at_end;          /* of a file that is too large: nothing comes behind the last line */
    bool ends_without_break; /* the last line of all has no line end */
};

/* One line without its line feed; false: no more are wanted. */
static bool put_line(struct lines *lines, const char *data, size_t length)
{
    int64_t number = lines->line++;
    if (number < lines->what->offset)
        return true;
    if (number >= lines->what->offset + lines->what->limit)
        return false;
    struct text *out = &lines->out;
    size_t before = out->length;
    bool has_return = length && data[length - 1] == '\r';
    if (lines->what->line_numbers)
        text_printf(out, "%6" PRId64 "\t", number);
    size_t bad = text_line(out, data, length - has_return, lines->most);
    text_puts(out, "\n");
    if (out->length > FILES_MOST_TEXT && lines->first) {
        out->length = before;
        lines->is_full = true;
        return false;
    }
    lines->is_cut =
        lines->is_cut || length - has_return > lines->most || out->length > FILES_MOST_TEXT;
    lines->bad += bad;
    lines->crlf += has_return;
    lines->last = number;
    lines->first = lines->first ? lines->first : number;
    return !out->failed;
}

/* All lines of a text; returns how many there are. */
static int64_t put_text(struct lines *lines, const char *data, size_t length)
{
    const char *end = data + length;
    bool is_wanted = true;
    while (data < end) {
        const char *feed = memchr(data, '\n', (size_t)(end - data));
        const char *stop = feed ? feed : end;
        if (is_wanted)
            is_wanted = put_line(lines, data, (size_t)(stop - data));
        else
            lines->line++;
        lines->ends_without_break = !feed;
        data = stop + 1;
    }
    /* the line that was not wanted is counted as well */
    return lines->line - 1;
}

/* ---- a file that is too large to be kept in memory ---------------------------------------- */

/* Reads until the wanted lines are there; 0 or an errno.  A line that is longer than the buffer is
 * cut into several. */
static int stream(struct lines *lines, mortise_call *call, int fd, uint64_t size)
{
    enum { ROOM = 1024 * 1024 };
    char *buffer = malloc(ROOM);
    size_t used = 0;
    int64_t seen = 0;
    int error = buffer ? 0 : ENOMEM;
    bool is_wanted = true;
    while (!error && is_wanted && seen < STREAM_BYTES) {
        ssize_t n = read(fd, buffer + used, ROOM - used);
        if (n < 0 && errno == EINTR)
            continue;
        error = n < 0 ? errno : mortise_cancelled(call) ? ECANCELED : 0;
        lines->is_at_end = n == 0;
        if (error || n == 0)
            break;
        seen += n;
        used += (size_t)n;
        mortise_progress(call, (double)seen, (double)size, NULL);
        size_t at = 0;
        const char *feed;
        while (is_wanted && (feed = memchr(buffer + at, '\n', used - at))) {
            is_wanted = put_line(lines, buffer + at, (size_t)(feed - buffer) - at);
            at = (size_t)(feed - buffer) + 1;
        }
        if (is_wanted && at == 0 && used == ROOM) {
            is_wanted = put_line(lines, buffer, used);
            at = used;
        }
        memmove(buffer, buffer + at, used - at);
        used -= at;
    }
    if (!error && is_wanted && used)
        put_line(lines, buffer, used);
    free(buffer);
    return error;
}

/* ---- the answer ---------------------------------------------------------------------------- */

static void put_notes(struct lines *lines, int64_t total, uint64_t size)
{
    struct text *out = &lines->out;
    if (total < 0) {
        text_printf(out, "[lines %" PRId64 "-%" PRId64 " of a file of ", lines->first, lines->last);
        text_size(out, size);
        text_puts(out, ", which is too large to be edited");
        if (!lines->is_at_end)
            text_printf(out, "; go on with offset %" PRId64, lines->last + 1);
        text_puts(out, "]\n");
    } else if (lines->first > 1 || lines->last < total) {
        text_printf(out, "[lines %" PRId64 "-%" PRId64 " of %" PRId64, lines->first, lines->last,
                    total);
        if (lines->last < total)
            text_printf(out, "; go on with offset %" PRId64, lines->last + 1);
        text_puts(out, "]\n");
    }
    if (lines->bad)
        text_printf(out, "[%zu bytes are not UTF-8 and are shown as \\xNN]\n", lines->bad);
    if (lines->crlf)
        text_puts(out, "[lines end with CRLF, which edit_file and write_file keep]\n");
    if (lines->is_marked)
        text_puts(out, "[the file begins with a byte order mark, which stays]\n");
    if (lines->ends_without_break && lines->last == total)
        text_puts(out, "[the last line has no line end]\n");
}

static mortise_status fail_offset(mortise_call *call, const struct place *place, int64_t offset,
                                  int64_t total, bool is_at_end)
{
    if (!is_at_end)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.offset",
                               "line %" PRId64 " of '%s' is behind its first 4 GB, which are all "
                               "that is read",
                               offset, place->shown);
    return mortise_fail_as(call, MORTISE_INVALID_INPUT, "files.offset",
                           "'%s' has %" PRId64 " lines: there is no line %" PRId64, place->shown,
                           total, offset);
}

static mortise_status reply_text(struct files *files, mortise_call *call, const struct place *place,
                                 const struct read_request *what, const char *data, size_t length)
{
    size_t mark = text_mark(data, length);
    struct lines lines = {.what = what,
                          .most = length > FILES_MOST_TEXT ? FILES_MOST_LINE : FILES_MOST_TEXT,
                          .line = 1,
                          .is_marked = mark > 0};
    int64_t total = put_text(&lines, data + mark, length - mark);
    struct content content = content_of(data, length);
    if (!lines.first && total > 0) {
        text_release(&lines.out);
        return fail_offset(call, place, what->offset, total, true);
    }
    if (total == 0)
        text_puts(&lines.out, "[the file is empty]\n");
    else
        put_notes(&lines, total, length);
    mortise_status status = text_reply(&lines.out, call);
    if (status == MORTISE_OK)
        seen_note(&files->seen, place_session(call), place->absolute, content,
                  (uint64_t)lines.first, (uint64_t)lines.last, (uint64_t)total + lines.is_cut);
    return status;
}

static mortise_status reply_binary(mortise_call *call, const struct place *place,
                                   const struct kind *kind, const char *data, size_t length,
                                   uint64_t size)
{
    struct text text = TEXT_INIT;
    const char *slash = strrchr(place->path, '/');
    bool is_attached = kind->is_shown && size <= ATTACH_BYTES && size == length &&
                       mortise_attach_bytes(call, kind->mime_type, slash ? slash + 1 : place->path,
                                            data, length) == MORTISE_OK;
    text_printf(&text, "'%s' is %s, ", place->shown, kind->mime_type);
    text_size(&text, size);
    if (is_attached)
        text_puts(&text, "; it goes with this result");
    else if (kind->is_shown)
        text_puts(&text, "; it is too large to go with a result (at most 10 MB)");
    else
        text_printf(&text, "; it is not text and is not shown%s%s", kind->advice ? ": " : "",
                    kind->advice ? kind->advice : "");
    return text_reply(&text, call);
}

static mortise_status reply_large(mortise_call *call, const struct place *place,
                                  const struct read_request *what, int fd, uint64_t size)
{
    struct lines lines = {.what = what, .most = FILES_MOST_LINE, .line = 1};
    char head[8192];
    ssize_t n = pread(fd, head, sizeof(head), 0);
    struct kind kind = kind_of(head, n > 0 ? (size_t)n : 0);
    if (kind.mime_type)
        return reply_binary(call, place, &kind, head, 0, size);
    int error = stream(&lines, call, fd, size);
    if (error || !lines.first) {
        text_release(&lines.out);
        return error == ECANCELED ? MORTISE_CANCELLED
               : error            ? place_fail(call, place, "read", error)
                       : fail_offset(call, place, what->offset, lines.line - 1, lines.is_at_end);
    }
    put_notes(&lines, -1, size);
    return text_reply(&lines.out, call);
}

mortise_status files_read(struct files *files, mortise_call *call, const struct read_request *what)
{
    struct place place;
    struct stat status;
    mortise_status done = place_open(files, call, what->path, &place);
    if (done != MORTISE_OK)
        return done;
    int fd = beneath_open_regular(place.root, place.path, &status);
    if (fd < 0) {
        done = place_fail(call, &place, "read", errno);
        place_close(&place);
        return done;
    }
    size_t length = 0;
    char *data = place_load(fd, &status, FILES_MOST_BYTES, &length);
    struct kind kind = data ? kind_of(data, length) : (struct kind){0};
    if (!data && errno == EFBIG)
        done = reply_large(call, &place, what, fd, (uint64_t)status.st_size);
    else if (!data)
        done = place_fail(call, &place, "read", errno);
    else if (kind.mime_type)
        done = reply_binary(call, &place, &kind, data, length, length);
    else
        done = reply_text(files, call, &place, what, data, length);
    free(data);
    close(fd);
    place_close(&place);
    return done;
}
