/* Any bytes as a response of this format, see fuzz_decoder.h, and as the schema of a tool. */
#include "fuzz_decoder.h"

#include "provider/schema_reduce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void project(const char *data, size_t size)
{
    struct text schema = TEXT_INIT, out = TEXT_INIT;
    text_append(&schema, data, size);
    schema_put_reduced(text_cstr(&schema), &out);
    json_t *projected = json_loadb(text_cstr(&out), out.length, JSON_ALLOW_NUL, NULL);
    fuzz_check(json_is_object(projected));
    json_decref(projected);
    text_release(&schema);
    text_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_decoder(&wire_gemini, (const char *)data, size);
    project((const char *)data, size);
    return 0;
}
