/* What a tool returns as JSON, taken apart: the parts are within the limits, the rest is JSON. */
#include <stdint.h>
#include <stdlib.h>

#include "base/json_check.h"
#include "provider/image.h"
#include "tool/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tool_result *result, const char *before, size_t length)
{
    bool valid = !result->is_json || json_is_valid(text_cstr(&result->text), result->text.length);
    bool within = result->attachment_count <= RESULT_PARTS_MAX;
    bool is_same =
        result->text.length == length && memcmp(text_cstr(&result->text), before, length) == 0;
    if (!valid || !within || (!result->attachment_count && !is_same))
        abort();
    for (size_t i = 0; i < result->attachment_count; i++) {
        const struct attachment *part = &result->attachments[i];
        struct image image;
        if (!part->data.data == !part->uri)
            abort();
        if (part->data.data)
            image_look(&image, part->data.data, part->data.length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *json = (const char *)data;
    struct image image;
    image_look(&image, data, size);
    if (!json_is_valid(json, size))
        return 0;
    struct tool_result result = {.success = true, .is_json = true};
    struct error error = ERROR_INIT;
    text_append(&result.text, json, size);
    if (parts_take_json(&result, &error))
        check(&result, json, size);
    else if (error.kind != ERROR_BAD_REQUEST)
        abort();
    parts_order(&result);
    tool_result_release(&result);
    return 0;
}
