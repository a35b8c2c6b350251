/*
 * A JSON Schema, a newline, and a value to check with it.  Whatever they are: an answer, the same
 * one twice, with words that are valid UTF-8 when it is no.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "schema/format.h"
#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_tell(const struct error *error)
{
    size_t length = strlen(error->message);
    must(error->kind != ERROR_NONE && length > 0);
    must(utf8_valid(error->message, length) == length);
}

static void check(const struct schema *schema, const json_t *value)
{
    struct error first = ERROR_INIT, second = ERROR_INIT;
    bool fits = schema_check(schema, value, PROBLEM_ARGUMENTS, &first);
    bool again = schema_check(schema, value, PROBLEM_RESULT, &second);
    /* The time of patterns is measured. */
    must(fits == again || strstr(first.message, "more work") ||
         strstr(second.message, "more work"));
    if (!fits)
        must_tell(&first);
}

static void try_formats(const char *text, size_t length)
{
    static const char *const names[] = {"date-time", "date", "time", "email",   "uri",
                                        "uuid",      "ipv4", "ipv6", "hostname"};
    char *copy = malloc(length ? length : 1); /* so that a byte too far is seen */
    must(copy != NULL);
    memcpy(copy, text, length);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        format_matches(names[i], copy, length);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size ? memchr(text, '\n', size) : NULL;
    if (!end)
        return 0;
    size_t length = (size_t)(end - text);
    struct error error = ERROR_INIT;
    try_formats(end + 1, size - length - 1);
    json_t *document = json_parse(text, length, NULL, NULL);
    json_t *value = json_parse(end + 1, size - length - 1, NULL, NULL);
    struct schema *schema = document ? schema_compile(document, &error) : NULL;
    if (document && !schema)
        must_tell(&error);
    if (schema && value)
        check(schema, value);
    schema_free(schema);
    json_decref(document);
    json_decref(value);
    return 0;
}
