/*
 * Any text as JSON: the host's reader and jansson's come to the same value, or to the same error at
 * the same place, under each set of flags.  What was written from such a value is valid.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_check.h"
#include "base/json_twice.h"
#include "base/json_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void compare(const char *text, size_t length, size_t flags)
{
    struct text difference = TEXT_INIT;
    if (!json_twice(text, length, flags, &difference)) {
        fprintf(stderr, "flags %zu: %s\n", flags, text_cstr(&difference));
        abort();
    }
    text_release(&difference);
}

/* A string is the same when it is written and read again. */
static void write_string(const char *data, size_t length)
{
    struct text json = TEXT_INIT;
    text_json_string(&json, data, length);
    check(json_is_valid(text_cstr(&json), json.length));
    struct text back = TEXT_INIT, clean = TEXT_INIT;
    check(json_piece_text((struct json_piece){json.data, json.length}, &back));
    json_t *value = json_parse(json.data, json.length, NULL, NULL);
    check(json_string_length(value) == back.length &&
          memcmp(json_string_value(value), text_cstr(&back), back.length) == 0);
    text_json_string(&clean, back.data, back.length);
    check(clean.length == json.length && memcmp(clean.data, json.data, json.length) == 0);
    json_decref(value);
    text_release(&json);
    text_release(&back);
    text_release(&clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t any = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    const char *text = (const char *)data;
    compare(text, size, any);
    compare(text, size, JSON_ALLOW_NUL);
    compare(text, size, any | JSON_REJECT_DUPLICATES);
    compare(text, size, any | JSON_DISABLE_EOF_CHECK);
    compare(text, size, any | JSON_DECODE_INT_AS_REAL);
    write_string(text, size);
    return 0;
}
