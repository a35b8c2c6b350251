#include "remote/take.h"

#include <string.h>

const char *take_bytes(struct parcel *message, struct arena *memory, size_t *length)
{
    const char *bytes = parcel_bytes(message, length);
    const char *copy = bytes ? arena_copy(memory, bytes, *length) : NULL;
    message->bad |= bytes && !copy;
    return copy;
}

const char *take_string(struct parcel *message, struct arena *memory)
{
    const char *string = parcel_string(message);
    const char *copy = string ? arena_copy(memory, string, strlen(string)) : NULL;
    message->bad |= string && !copy;
    return copy;
}

const char *const *take_strings(struct parcel *message, struct arena *memory, uint32_t most)
{
    uint32_t count = parcel_u32(message);
    if (message->bad || count == UINT32_MAX)
        return NULL;
    message->bad |= count > most || count > message->left;
    const char **strings =
        message->bad ? NULL : arena_alloc(memory, ((size_t)count + 1) * sizeof(*strings));
    message->bad |= !strings;
    for (uint32_t i = 0; i < count && !message->bad; i++) {
        strings[i] = take_string(message, memory);
        message->bad |= !strings[i];
    }
    return strings;
}

void put_meta(struct text *out, const mortise_tool_meta *meta)
{
    parcel_put_u32(out, meta->flags);
    parcel_put_string(out, meta->name);
    parcel_put_string(out, meta->description);
    parcel_put_string(out, meta->input_schema);
    parcel_put_string(out, meta->output_schema);
    parcel_put_strings(out, meta->scopes);
    parcel_put_string(out, meta->title);
    parcel_put_strings(out, meta->examples);
    parcel_put_strings(out, meta->inside_reads);
    parcel_put_strings(out, meta->inside_runs);
    parcel_put_u32(out, meta->inside);
}

const mortise_tool_meta *take_meta(struct parcel *message, struct arena *memory, uint32_t most)
{
    mortise_tool_meta *meta = arena_alloc(memory, sizeof(*meta));
    if (!meta) {
        message->bad = true;
        return NULL;
    }
    *meta = (mortise_tool_meta){.size = sizeof(*meta)};
    meta->flags = parcel_u32(message);
    meta->name = take_string(message, memory);
    meta->description = take_string(message, memory);
    meta->input_schema = take_string(message, memory);
    meta->output_schema = take_string(message, memory);
    meta->scopes = take_strings(message, memory, most);
    meta->title = take_string(message, memory);
    meta->examples = take_strings(message, memory, most);
    meta->inside_reads = take_strings(message, memory, most);
    meta->inside_runs = take_strings(message, memory, most);
    meta->inside = parcel_u32(message);
    return meta;
}
