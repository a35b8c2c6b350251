#include "tool/context.h"

#include <string.h>

#include "base/json_write.h"

#define METADATA "metadata"

static const char *list_scopes(const char *const *scopes, struct arena *memory)
{
    struct text list = TEXT_INIT;
    if (!scopes)
        return NULL;
    for (; *scopes; scopes++)
        text_printf(&list, "%s%s", list.length ? " " : "", *scopes);
    return text_keep(&list, memory);
}

static const char *write_metadata(const struct metadata *metadata, struct arena *memory)
{
    struct text object = TEXT_INIT;
    if (!metadata)
        return NULL;
    text_putc(&object, '{');
    for (; metadata->key; metadata++) {
        if (object.length > 1)
            text_putc(&object, ',');
        text_json_string(&object, metadata->key, strlen(metadata->key));
        text_putc(&object, ':');
        text_json_string(&object, metadata->value, strlen(metadata->value));
    }
    text_putc(&object, '}');
    return text_keep(&object, memory);
}

static const char *find_metadata(const struct metadata *metadata, const char *key)
{
    while (metadata && metadata->key && strcmp(metadata->key, key) != 0)
        metadata++;
    return metadata ? metadata->value : NULL;
}

static const char *find(const struct call_context *context, const char *key)
{
    const struct {
        const char *key, *value;
    } known[] = {
        {"user", context->user ? context->user : "anonymous"},
        {"session", context->session},
        {"tenant", context->tenant},
        {"agent", context->agent ? context->agent : context->app},
        {"app", context->app ? context->app : context->agent},
        {"workspace", context->workspace},
        {"invocation", context->invocation},
    };
    if (strncmp(key, METADATA ".", sizeof(METADATA)) == 0)
        return find_metadata(context->metadata, key + sizeof(METADATA));
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].key, key) == 0)
            return known[i].value;
    return NULL;
}

const char *context_get(const struct call_context *context, const char *key, struct arena *memory)
{
    if (strcmp(key, "scopes") == 0)
        return list_scopes(context->scopes, memory);
    if (strcmp(key, METADATA) == 0)
        return write_metadata(context->metadata, memory);
    const char *value = find(context, key);
    return value ? arena_copy(memory, value, strlen(value)) : NULL;
}
