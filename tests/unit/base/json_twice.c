#include "json_twice.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"

static bool is_same_value(const json_t *ours, const json_t *theirs, struct text *difference)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17);
    char *our_text = json_dumps(ours, flags), *their_text = json_dumps(theirs, flags);
    bool same = our_text && their_text && strcmp(our_text, their_text) == 0;
    if (!same)
        text_printf(difference, "%s, and by jansson %s", our_text, their_text);
    free(our_text);
    free(their_text);
    return same;
}

static bool is_same_problem(const json_error_t *ours, const json_error_t *theirs,
                            struct text *difference)
{
    if (ours->line == theirs->line && ours->column == theirs->column &&
        ours->position == theirs->position && strcmp(ours->text, theirs->text) == 0 &&
        json_error_code(ours) == json_error_code(theirs))
        return true;
    text_printf(difference, "'%s' (%d) at %d:%d:%d, and by jansson '%s' (%d) at %d:%d:%d",
                ours->text, json_error_code(ours), ours->line, ours->column, ours->position,
                theirs->text, json_error_code(theirs), theirs->line, theirs->column,
                theirs->position);
    return false;
}

/* What is valid but cannot be built: the check looks at no number and at no key. */
static bool is_checked_well(const char *data, size_t length, const json_error_t *problem,
                            bool is_read)
{
    enum json_error_code code = json_error_code(problem);
    bool is_valid = json_is_valid(data, length);
    if (is_read || !is_valid)
        return is_read == is_valid;
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
}

bool json_twice(const char *data, size_t length, size_t flags, struct text *difference)
{
    json_error_t our_problem, their_problem;
    bool no_memory, same;
    if (memchr(data, '\0', length))
        return true;
    json_t *ours = json_read(data, length, flags, &our_problem, &no_memory);
    json_t *theirs = json_loadb(data, length, flags, &their_problem);
    if (!ours && !theirs)
        same = is_same_problem(&our_problem, &their_problem, difference);
    else
        same = ours && theirs && our_problem.position == their_problem.position &&
               is_same_value(ours, theirs, difference);
    if (same && flags == (JSON_DECODE_ANY | JSON_ALLOW_NUL))
        same = is_checked_well(data, length, &our_problem, ours);
    if (!same && !difference->length)
        text_printf(difference, "%s to %d, and by jansson %s to %d",
                    ours ? "read" : our_problem.text, our_problem.position,
                    theirs ? "read" : their_problem.text, their_problem.position);
    json_decref(ours);
    json_decref(theirs);
    return same;
}
