#include "provider/offline.h"

#include <string.h>

#include "provider/offline_pick.h"

static const char banner[] =
    "I am a stand-in, not a language model: I pick a tool by the words of your prompt.";

/* ---- what is said ---- */

/* What is missing, and a prompt that is certain to call the tool. */
static void say_missing(struct text *out, const struct pick *pick)
{
    const char *name;
    json_t *property;
    text_printf(out, " %s fits, but I do not find its argument '%s' in the prompt.  Example: %s",
                pick->tool->name, pick->missing, pick->tool->name);
    json_object_foreach(pick->properties, name, property)
    {
        const json_t *choices = json_object_get(property, "enum");
        const char *value = json_string_value(json_array_get(choices, 0));
        if (!value)
            value = pick_is_type(property, "string") ? "something" : "2";
        if (pick_requires(pick, name))
            text_printf(out, " %s=%s", name, value);
    }
}

static void say_tools(struct text *out, const struct toolset *tools)
{
    if (!tools || !tools->count) {
        text_puts(out, " There are no tools that I could call.");
        return;
    }
    text_puts(out, " None of the tools fits:");
    for (size_t i = 0; i < tools->count; i++) {
        const char *hint = tools->items[i].description ? tools->items[i].description : "";
        text_printf(out, "\n  %s  %.*s", tools->items[i].name, (int)strcspn(hint, "\n"), hint);
    }
}

static const char *call_name(const struct request *request, const char *call_id)
{
    for (size_t i = request->item_count; i > 0; i--) {
        const struct item *item = request->items[i - 1];
        if (item->kind == ITEM_CALL && !strcmp(item->call_id, call_id))
            return item->name;
    }
    return "a tool";
}

/* The results from item `start` on; nothing when there are none. */
static void say_results(struct text *out, const struct request *request, size_t start)
{
    for (size_t i = start; i < request->item_count; i++) {
        const struct item *item = request->items[i];
        if (item->kind != ITEM_OUTPUT)
            continue;
        text_printf(out, "%s%s %s: ", out->length ? "\n" : "", call_name(request, item->call_id),
                    item->is_error ? "failed" : "answered");
        text_append(out, item->text.data, item->text.length);
    }
}

static void show(struct stream *stream, enum block_kind kind, const char *name,
                 const struct text *text)
{
    struct error error = ERROR_INIT;
    if (text->failed) {
        error_memory(&error);
        stream_fail(stream, &error);
        return;
    }
    int block = stream_open(stream, kind, NULL, name);
    stream_delta(stream, block, text_cstr(text), text->length, false);
    stream_close(stream, block);
}

/* ---- the client ---- */

static void answer_prompt(struct stream *stream, const struct request *request, const char *text)
{
    struct pick pick = pick_tool(request->tools, text);
    bool calls = pick.tool && !pick.missing;
    struct text said = TEXT_INIT, arguments = TEXT_INIT;
    text_puts(&said, banner);
    if (!pick.tool)
        say_tools(&said, request->tools);
    else if (pick.missing)
        say_missing(&said, &pick);
    show(stream, BLOCK_TEXT, NULL, &said);
    if (calls) {
        text_json(&arguments, pick.arguments);
        show(stream, BLOCK_TOOL_USE, pick.tool->name, &arguments);
    }
    stream_stop(stream, calls ? STOP_TOOL_USE : STOP_END);
    text_release(&said);
    text_release(&arguments);
    pick_release(&pick);
}

/* The index behind the last message of the user, or 0. */
static size_t behind_prompt(const struct request *request)
{
    size_t i = request->item_count;
    while (i > 0 && (request->items[i - 1]->kind != ITEM_MESSAGE ||
                     request->items[i - 1]->role != ROLE_USER))
        i--;
    return i;
}

static void offline_attempt(struct client *client, const struct request *request,
                            struct stream *stream, struct cancel *cancel, int64_t deadline_ms)
{
    (void)client, (void)cancel, (void)deadline_ms; /* it never waits */
    size_t start = behind_prompt(request);
    struct text text = TEXT_INIT;
    say_results(&text, request, start);
    if (text.length || text.failed) {
        show(stream, BLOCK_TEXT, NULL, &text);
        stream_stop(stream, STOP_END);
    } else {
        if (start)
            item_append_text(request->items[start - 1], &text);
        answer_prompt(stream, request, text_cstr(&text));
    }
    text_release(&text);
    stream_finish(stream);
}

static void offline_free(struct client *client)
{
    free(client->provider);
    free(client->model);
    free(client);
}

struct client *offline_client_new(struct error *error)
{
    static const struct client_ops ops = {.attempt = offline_attempt, .free = offline_free};
    struct client *client = malloc(sizeof(*client));
    if (client) {
        *client = (struct client){
            .ops = &ops,
            .provider = strdup("offline"),
            .model = strdup(""),
            .max_attempts = 1,
        };
        if (client->provider && client->model)
            return client;
        offline_free(client);
    }
    error_memory(error);
    return NULL;
}
