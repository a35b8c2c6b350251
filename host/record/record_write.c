#include "record/record_write.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "base/json_write.h"
#include "conversation/item_record.h"
#include "plugin/meta.h"

void record_begin(struct text *out, enum record_kind kind)
{
    text_putc(out, '{');
    json_put_string(out, "type", record_kind_name(kind));
}

/* ---- who is asked ---- */

/* Every format is that of some provider. */
const struct wire *record_wire(const char *name)
{
    const struct profile *profile;
    for (size_t i = 0; (profile = profile_at(i)); i++)
        if (profile->wire && strcmp(profile->wire->name, name) == 0)
            return profile->wire;
    return NULL;
}

#define STRING(member)  {#member, offsetof(struct profile, member), true}
#define BOOLEAN(member) {#member, offsetof(struct profile, member), false}

const struct profile_fact profile_facts[] = {
    STRING(max_tokens_field), STRING(reasoning_field),    BOOLEAN(strict_ids),
    BOOLEAN(takes_cache_key), BOOLEAN(no_stream_options), BOOLEAN(reduced_schemas),
    {NULL, 0, false},
};

static void write_profile(struct text *out, const struct profile *profile)
{
    const char *const *unsupported = profile_unsupported(profile);
    json_put_key(out, "profile");
    text_putc(out, '{');
    for (const struct profile_fact *fact = profile_facts; fact->name; fact++) {
        const char *member = (const char *)profile + fact->offset;
        const char *string = NULL;
        if (fact->is_string)
            memcpy(&string, member, sizeof(string));
        if (string)
            json_put_string(out, fact->name, string);
        else if (!fact->is_string && *(const bool *)member)
            json_put_boolean(out, fact->name, true);
    }
    json_put_key(out, "unsupported");
    text_putc(out, '[');
    for (; unsupported && *unsupported; unsupported++) {
        json_put_comma(out);
        text_json_string(out, *unsupported, strlen(*unsupported));
    }
    text_puts(out, "]}");
}

#define PART_RULES(X)                                                                              \
    X(takes, unsigned)                                                                             \
    X(no_gif, bool)                                                                                \
    X(errors_are_text, bool)                                                                       \
    X(image_bytes, size_t)                                                                         \
    X(image_side, uint32_t)                                                                        \
    X(many_images, unsigned)                                                                       \
    X(many_side, uint32_t)                                                                         \
    X(images, unsigned)                                                                            \
    X(total_bytes, size_t)

#define X(name, type)                                                                              \
    static int64_t get_##name(const struct part_rules *rules)                                      \
    {                                                                                              \
        return (int64_t)rules->name;                                                               \
    }                                                                                              \
    static void set_##name(struct part_rules *rules, int64_t value)                                \
    {                                                                                              \
        rules->name = (type)value;                                                                 \
    }
PART_RULES(X)
#undef X

const struct part_fact part_facts[] = {
#define X(name, type) {#name, get_##name, set_##name},
    PART_RULES(X)
#undef X
        {NULL, NULL, NULL}};

void record_write_model(struct text *out, const struct client *client)
{
    struct client_facts facts;
    client->ops->facts(client, &facts);
    record_begin(out, RECORD_MODEL);
    json_put_string(out, "provider", client->provider);
    json_put_string(out, "model", client->model);
    json_put_string(out, "format", facts.profile->wire->name);
    json_put_string(out, "host", facts.host);
    json_put_integer(out, "attempts", client->max_attempts);
    write_profile(out, facts.profile);
    json_put_key(out, "parts");
    text_putc(out, '{');
    for (const struct part_fact *fact = part_facts; fact->name; fact++)
        json_put_integer(out, fact->name, fact->get(&client->parts));
    text_putc(out, '}');
}

/* ---- tools and hooks ---- */

static void write_tool(struct text *out, const struct tool *tool)
{
    const char *name;
    uint32_t bit;
    json_put_comma(out);
    text_putc(out, '{');
    json_put_string(out, "name", tool->name);
    json_put_string(out, "description", tool->meta.description);
    json_put_string(out, "input_schema", tool->meta.input_schema);
    json_put_key(out, "flags");
    text_putc(out, '[');
    for (size_t i = 0; (name = tool_flag(i, &bit)); i++)
        if (tool->meta.flags & bit) {
            json_put_comma(out);
            text_json_string(out, name, strlen(name));
        }
    text_puts(out, "]}");
}

static void write_hook(struct text *out, const struct hook *hook)
{
    json_put_comma(out);
    text_putc(out, '{');
    json_put_string(out, "name", hook->name);
    json_put_integer(out, "priority", hook->table->priority);
    json_put_key(out, "events");
    text_putc(out, '[');
    for (int event = 0; event < HOOK_EVENT_COUNT; event++) {
        const char *name = hook_event_name((enum hook_event)event);
        if (!hook_takes(hook, (enum hook_event)event))
            continue;
        json_put_comma(out);
        text_json_string(out, name, strlen(name));
    }
    text_puts(out, "]}");
}

/* Which build of it: the name of its file, and what is in that now. */
static void write_file(struct text *out, const struct plugin *plugin)
{
    char sha256[SHA256_DIGEST_STRING_LENGTH];
    const char *slash = strrchr(plugin->path, '/');
    json_put_string(out, "file", slash ? slash + 1 : plugin->path);
    if (plugin->object && SHA256File(plugin->path, sha256))
        json_put_string(out, "sha256", sha256);
}

static void write_plugin(struct text *out, const struct registry *registry,
                         const struct plugin *plugin)
{
    json_put_comma(out);
    text_putc(out, '{');
    json_put_string(out, "name", plugin->name);
    json_put_string(out, "version", plugin->version);
    write_file(out, plugin);
    if (plugin->ignores_failures)
        json_put_boolean(out, "ignores_failures", true);
    json_put_key(out, "tools");
    text_putc(out, '[');
    for (size_t i = 0; i < plugin->tool_count; i++)
        if (registry_find(registry, plugin->tools[i]->name) == plugin->tools[i])
            write_tool(out, plugin->tools[i]); /* else it gave way to another of its name */
    text_putc(out, ']');
    json_put_key(out, "hooks");
    text_putc(out, '[');
    for (size_t i = 0; i < plugin->hook_count; i++)
        write_hook(out, &plugin->hooks[i]);
    text_puts(out, "]}");
}

void record_write_plugins(struct text *out, const struct registry *registry)
{
    const struct plugin *plugin;
    record_begin(out, RECORD_PLUGINS);
    json_put_key(out, "plugins");
    text_putc(out, '[');
    for (size_t i = 0; (plugin = registry_plugin(registry, i)); i++)
        write_plugin(out, registry, plugin);
    text_putc(out, ']');
}

/* ---- what hooks do ---- */

void record_hook_name(char name[RECORD_HOOK_NAME_SIZE], const struct hook *hook)
{
    snprintf(name, RECORD_HOOK_NAME_SIZE, "%s/%s", hook->plugin->name, hook->name);
}

void record_write_edit(struct text *out, const struct hook_edit *edit)
{
    json_put_comma(out);
    text_putc(out, '{');
    json_put_string(out, "what", edit->what);
    json_put_integer(out, "index", (int64_t)edit->index);
    json_put_boolean(out, "is_error", edit->is_error);
    json_put_text(out, "text", edit->text.data, edit->text.data ? edit->text.length : 0);
    text_putc(out, '}');
}

void record_write_hook(struct text *out, const struct hook *hook, const char *event, unsigned n,
                       const struct text *edits, const char *verdict, const char *reason)
{
    char name[RECORD_HOOK_NAME_SIZE];
    record_hook_name(name, hook);
    record_begin(out, RECORD_HOOK);
    json_put_string(out, "hook", name);
    json_put_string(out, "event", event);
    json_put_integer(out, "n", n);
    if (edits->length) {
        json_put_key(out, "edits");
        text_putc(out, '[');
        text_append(out, edits->data, edits->length);
        text_putc(out, ']');
    }
    json_put_string(out, "verdict", verdict);
    if (*reason)
        json_put_string(out, "reason", reason);
    out->failed |= edits->failed;
}

/* ---- what tools do ---- */

static void write_parts(struct text *out, const struct tool_result *result)
{
    const struct item carrier = {.attachments = result->attachments,
                                 .attachment_count = result->attachment_count};
    if (!result->attachment_count)
        return;
    json_put_key(out, "parts");
    attachments_write_json(&carrier, out);
}

void record_write_result(struct text *out, const struct dispatch_call *call, struct slice arguments,
                         bool made)
{
    const struct tool_result *result = &call->result;
    record_begin(out, RECORD_TOOL_RESULT);
    json_put_string(out, "id", call->id);
    json_put_string(out, "name", call->name);
    json_put_text(out, "arguments", arguments.data ? arguments.data : "", arguments.length);
    json_put_boolean(out, "made", made);
    json_put_boolean(out, "success", result->success);
    json_put_text(out, "text", text_cstr(&result->text), result->text.length);
    if (result->is_json)
        json_put_boolean(out, "json", true);
    if (!result->success) {
        json_put_string(out, "component", result->component);
        json_put_string(out, "category", result->category ? result->category : "");
        json_put_string(out, "code", result->code);
        json_put_integer(out, "retry_after_ms", result->retry_after_ms);
    }
    write_parts(out, result);
}

/* ---- how things end ---- */

void record_write_error(struct text *out, const struct error *error)
{
    json_put_key(out, "error");
    text_putc(out, '{');
    json_put_string(out, "kind", error_kind_name(error->kind));
    json_put_string(out, "message", error->message);
    json_put_boolean(out, "retryable", error->retryable);
    text_putc(out, '}');
}

static void write_usage(struct text *out, const struct usage *usage)
{
    json_put_key(out, "usage");
    text_putc(out, '{');
    json_put_integer(out, "input_tokens", usage->input_tokens);
    json_put_integer(out, "output_tokens", usage->output_tokens);
    json_put_integer(out, "cached_tokens", usage->cached_tokens);
    json_put_integer(out, "cache_write_tokens", usage->cache_write_tokens);
    json_put_integer(out, "reasoning_tokens", usage->reasoning_tokens);
    text_putc(out, '}');
}

void record_write_outcome(struct text *out, const struct worker_result *result)
{
    record_begin(out, RECORD_RESULT);
    json_put_string(out, "status", worker_status_name(result->status));
    json_put_text(out, "text", text_cstr(&result->text), result->text.length);
    json_put_integer(out, "turns", result->turns);
    write_usage(out, &result->usage);
}
