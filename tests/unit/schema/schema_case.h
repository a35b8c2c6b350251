/* schema_case - schemas and values as text, for the tests of host/schema. */
#ifndef SCHEMA_CASE_H
#define SCHEMA_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "schema/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline json_t *case_json(const char *text)
{
    json_t *json = json_parse(text, strlen(text), NULL, NULL);
    if (!json)
        fail_msg("no JSON: %s", text);
    return json;
}

static inline struct schema *case_schema(const char *text, struct error *error)
{
    json_t *document = case_json(text);
    struct schema *schema = schema_compile(document, error);
    json_decref(document);
    return schema;
}

/* What is said of the value; "" when it fits. */
static inline void case_expect(const char *schema_text, const char *value_text,
                               enum problem_subject subject, const char *message)
{
    struct error error = ERROR_INIT;
    struct schema *schema = case_schema(schema_text, &error);
    assert_string_equal(error.message, "");
    json_t *value = case_json(value_text);
    bool fits = schema_check(schema, value, subject, &error);
    assert_string_equal(error.message, message);
    assert_int_equal(fits, !*message);
    if (!fits)
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
    json_decref(value);
    schema_free(schema);
}

#endif
