#include "record/recording.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_check.h"

#define MOST_BYTES ((size_t)1 << 30)
/* Of a record that is built as a whole: each takes up to a hundred bytes of memory, and two or three
 * in the file. */
enum { MOST_VALUES = 8 << 20 };

static const char *const kind_names[RECORD_KIND_COUNT] = {
#define X(name, text) [RECORD_##name] = text,
    RECORD_KINDS(X)
#undef X
};

const char *record_kind_name(enum record_kind kind)
{
    return kind_names[kind];
}

/* ---- what a record must have ---- */

/* What a member may begin with. */
#define STRING  "\""
#define INTEGER "-0123456789"
#define BOOLEAN "tf"
#define OBJECT  "{"
#define LIST    "["

static const struct {
    enum record_kind kind;
    const char *name;
    const char *begins;
    bool is_needed;
} members[] = {
    {RECORD_HEADER, "settings", OBJECT, true},
    {RECORD_HEADER, "tool-config", OBJECT, false},
    {RECORD_MODEL, "provider", STRING, true},
    {RECORD_MODEL, "model", STRING, true},
    {RECORD_MODEL, "format", STRING, true},
    {RECORD_MODEL, "host", STRING, true},
    {RECORD_MODEL, "attempts", INTEGER, true},
    {RECORD_MODEL, "profile", OBJECT, true},
    {RECORD_MODEL, "parts", OBJECT, true},
    {RECORD_PLUGINS, "plugins", LIST, true},
    {RECORD_RUN, "prompt", STRING, false},
    {RECORD_RUN, "resume", BOOLEAN, false},
    {RECORD_RUN, "system", STRING "n", true},
    {RECORD_RUN, "locked", INTEGER, false},
    {RECORD_RUN, "history", LIST, false},
    {RECORD_REQUEST, "turn", INTEGER, true},
    {RECORD_REQUEST, "attempt", INTEGER, true},
    {RECORD_REQUEST, "body", OBJECT STRING, true},
    {RECORD_RESPONSE, "status", INTEGER, true},
    {RECORD_RESPONSE, "hints", OBJECT, false},
    {RECORD_RESPONSE, "chunks", LIST, false},
    {RECORD_RESPONSE, "calls", LIST, false},
    {RECORD_RESPONSE, "end", STRING, true},
    {RECORD_RESPONSE, "error", OBJECT, false},
    {RECORD_RESPONSE, "withheld", BOOLEAN, false},
    {RECORD_HOOK, "hook", STRING, true},
    {RECORD_HOOK, "event", STRING, true},
    {RECORD_HOOK, "n", INTEGER, true},
    {RECORD_HOOK, "edits", LIST, false},
    {RECORD_HOOK, "verdict", STRING, true},
    {RECORD_HOOK, "reason", STRING, false},
    {RECORD_TOOL_RESULT, "id", STRING, true},
    {RECORD_TOOL_RESULT, "name", STRING, true},
    {RECORD_TOOL_RESULT, "arguments", STRING, true},
    {RECORD_TOOL_RESULT, "made", BOOLEAN, true},
    {RECORD_TOOL_RESULT, "success", BOOLEAN, true},
    {RECORD_TOOL_RESULT, "text", STRING, true},
    {RECORD_TOOL_RESULT, "parts", LIST, false},
    {RECORD_TOOL_RESULT, "progress", LIST, false},
    {RECORD_KEPT, "name", STRING, true},
    {RECORD_KEPT, "path", STRING, true},
    {RECORD_KEPT, "found", STRING, false},
    {RECORD_RESULT, "status", STRING, true},
    {RECORD_RESULT, "text", STRING, true},
    {RECORD_RESULT, "turns", INTEGER, true},
    {RECORD_RESULT, "usage", OBJECT, true},
    {RECORD_RESULT, "error", OBJECT, false},
};

static bool check_members(const struct record *record, struct error *error)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        if (members[i].kind != record->kind)
            continue;
        struct json_piece value = record_member(record, members[i].name);
        if (!value.length && members[i].is_needed)
            return error_set(error, ERROR_USAGE, "'%s' is missing in a record of type '%s'",
                             members[i].name, record_kind_name(record->kind));
        if (value.length && !strchr(members[i].begins, *value.data))
            return error_set(error, ERROR_USAGE, "'%s' of a record of type '%s' cannot be used",
                             members[i].name, record_kind_name(record->kind));
    }
    return true;
}

/* ---- lines ---- */

static bool find_kind(struct record *record, struct error *error)
{
    struct json_piece type = record_member(record, "type");
    for (int kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (type.length && json_piece_is(type, kind_names[kind])) {
            record->kind = (enum record_kind)kind;
            return true;
        }
    return error_set(error, ERROR_USAGE, "it has no 'type' that is known");
}

static bool check_header(const struct record *record, bool is_first, struct error *error)
{
    if (is_first != (record->kind == RECORD_HEADER))
        return error_set(error, ERROR_USAGE,
                         is_first ? "it is no recording of mortise's: the first line is no header"
                                  : "there is a second header");
    if (!is_first || record_integer(record, "format", 0) == RECORDING_FORMAT)
        return true;
    return error_set(error, ERROR_USAGE,
                     record_integer(record, "format", 0) > RECORDING_FORMAT
                         ? "it was recorded by a newer mortise"
                         : "it is no recording of mortise's: 'format' is not 1");
}

static bool take_line(struct recording *recording, struct record *record, struct error *error)
{
    if (!json_is_valid(record->json.data, record->json.length) || *record->json.data != '{')
        return error_set(error, ERROR_USAGE, "it is no JSON object");
    if (!find_kind(record, error) || !check_header(record, recording->count == 0, error) ||
        !check_members(record, error))
        return false;
    if (!array_reserve(recording, 1))
        return error_memory(error);
    recording->items[recording->count++] = *record;
    return true;
}

/* A line ends at LF and nowhere else.  Whoever wrote the last one may have been killed. */
bool recording_parse(struct recording *recording, const char *name, struct error *error)
{
    const char *at = text_cstr(&recording->bytes);
    const char *end = at + recording->bytes.length;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct record record = {.line = line, .json = {at, (size_t)((stop ? stop : end) - at)}};
        if (!stop && !json_is_valid(record.json.data, record.json.length)) {
            recording->is_torn = true;
            break;
        }
        if (!take_line(recording, &record, error)) {
            error_prefix(error, "%s: line %zu", name, line);
            return false;
        }
        at = stop ? stop + 1 : end;
    }
    return recording->count ||
           error_set(error, ERROR_USAGE, "%s: there is no recording in it", name);
}

bool recording_read(struct recording *recording, const char *path, struct error *error)
{
    *recording = (struct recording){0};
    return file_read(path, MOST_BYTES, &recording->bytes, error) &&
           recording_parse(recording, path, error);
}

void recording_release(struct recording *recording)
{
    text_release(&recording->bytes);
    free(recording->items);
    *recording = (struct recording){0};
}

/* ---- members ---- */

struct json_piece record_member(const struct record *record, const char *name)
{
    return json_walk_member(record->json, name);
}

bool record_has(const struct record *record, const char *name)
{
    struct json_piece piece = record_member(record, name);
    return piece.length && *piece.data != 'n';
}

/* Whatever stands behind it within the line is no digit. */
int64_t json_piece_integer(struct json_piece piece, int64_t fallback)
{
    if (!piece.length || !(*piece.data == '-' || isdigit((unsigned char)*piece.data)))
        return fallback;
    errno = 0;
    long long value = strtoll(piece.data, NULL, 10);
    return errno ? fallback : value;
}

int64_t record_integer(const struct record *record, const char *name, int64_t fallback)
{
    return json_piece_integer(record_member(record, name), fallback);
}

bool record_is_true(const struct record *record, const char *name)
{
    struct json_piece piece = record_member(record, name);
    return piece.length && *piece.data == 't';
}

bool record_text(const struct record *record, const char *name, struct text *out)
{
    text_reset(out);
    text_reserve(out, 0); /* "" is a text too */
    json_piece_text(record_member(record, name), out);
    return !out->failed;
}

bool record_says(const struct record *record, const char *name, const char *string)
{
    struct text written = TEXT_INIT;
    struct json_piece piece = record_member(record, name);
    text_json_string(&written, string, strlen(string));
    bool same = !written.failed && written.length == piece.length &&
                memcmp(written.data, piece.data, piece.length) == 0;
    text_release(&written);
    return same;
}

/* No fewer than there are: each but the first stands behind one of these. */
static size_t count_values(struct json_piece piece)
{
    size_t count = 0;
    for (size_t i = 0; i < piece.length; i++)
        count += piece.data[i] == '[' || piece.data[i] == '{' || piece.data[i] == ',';
    return count;
}

json_t *record_value(const struct record *record, struct error *error)
{
    if (count_values(record->json) > MOST_VALUES) {
        error_set(error, ERROR_USAGE, "it has more than %d values", MOST_VALUES);
        return NULL;
    }
    json_t *value = json_parse_wide(record->json.data, record->json.length, error);
    if (!value && error->kind != ERROR_INTERNAL)
        error->kind = ERROR_USAGE;
    return value;
}
