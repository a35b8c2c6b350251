#include "provider/chat_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "provider/wire_read.h"

/* What one fragment says. */
struct fragment {
    bool has_index;
    json_int_t index;
    char id[256]; /* "" = none */
    struct slice name;
    bool has_arguments; /* the member is there, though perhaps empty */
    struct slice arguments;
    bool lone;
};

void chat_calls_init(struct chat_calls *calls, struct stream *stream)
{
    *calls = (struct chat_calls){.stream = stream};
}

void chat_calls_release(struct chat_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        text_release(&calls->items[i].id);
        text_release(&calls->items[i].name);
        text_release(&calls->items[i].early);
    }
    free(calls->items);
    text_release(&calls->scratch);
}

/* ---- which call ---- */

static bool equals(const struct text *text, const char *data, size_t length)
{
    return text->length == length && (!length || !memcmp(text->data, data, length));
}

static struct chat_call *last_call(struct chat_calls *calls)
{
    return calls->count ? &calls->items[calls->count - 1] : NULL;
}

/* The call that is bound to the index now: the last one that claimed it. */
static struct chat_call *call_by_index(struct chat_calls *calls, const struct fragment *fragment)
{
    for (size_t i = calls->count; fragment->has_index && i-- > 0;)
        if (calls->items[i].has_index && calls->items[i].index == fragment->index)
            return &calls->items[i];
    return NULL;
}

static struct chat_call *call_by_id(struct chat_calls *calls, const struct fragment *fragment)
{
    size_t length = strlen(fragment->id);
    for (size_t i = calls->count; length && i-- > 0;)
        if (equals(&calls->items[i].id, fragment->id, length))
            return &calls->items[i];
    return NULL;
}

/* What was shown of the arguments, or held back for want of a name. */
static const struct text *arguments_of(const struct chat_calls *calls, const struct chat_call *call)
{
    return call->block < 0 ? &call->early : &calls->stream->blocks.items[call->block]->text;
}

static bool is_whole(const struct text *arguments)
{
    json_t *value = json_parse(arguments->data, arguments->length, NULL, NULL);
    bool whole = json_is_object(value);
    json_decref(value);
    return whole;
}

/* Whether a fragment for this call carries a name that can only be another call's: a
 * different one after the arguments began, or the same one with a second, different object
 * behind a whole first one. */
static bool starts_another(const struct chat_calls *calls, const struct chat_call *call,
                           const struct fragment *fragment)
{
    const struct text *known = arguments_of(calls, call);
    if (!fragment->name.length)
        return false;
    bool same_name = equals(&call->name, fragment->name.data, fragment->name.length);
    if (!known->length) {
        bool may_continue = !call->name.length || same_name || fragment->has_index ||
                            *fragment->id || !fragment->has_arguments;
        return call->block >= 0 ? !same_name : !may_continue;
    }
    if (!same_name)
        return call->name.length > 0;
    return fragment->arguments.length && *fragment->arguments.data == '{' &&
           known->data[known->length - 1] == '}' &&
           !equals(known, fragment->arguments.data, fragment->arguments.length) && is_whole(known);
}

/* A fragment with an id that is known, or not. */
static struct chat_call *find_with_id(struct chat_calls *calls, const struct fragment *fragment)
{
    struct chat_call *by_index = call_by_index(calls, fragment);
    struct chat_call *by_id = call_by_id(calls, fragment);
    if (by_id) {
        /* Two calls under one id differ in their index (FAULTS 59). */
        bool other = fragment->has_index && by_id->has_index && by_id->index != fragment->index &&
                     fragment->name.length;
        return other ? NULL : by_id;
    }
    struct chat_call *near = fragment->has_index ? by_index : last_call(calls);
    if (near && !near->id.length && (fragment->has_index || !fragment->name.length))
        return near; /* its id comes late */
    /* Some servers make up a new id for every piece: only a name begins a call. */
    if (near && !fragment->name.length && fragment->arguments.length)
        return near;
    return NULL;
}

/* NULL: the fragment begins a call, or belongs to none. */
static struct chat_call *find_call(struct chat_calls *calls, const struct fragment *fragment)
{
    struct chat_call *call;
    if (*fragment->id)
        call = find_with_id(calls, fragment);
    else if (!(call = call_by_index(calls, fragment)) &&
             !(fragment->has_index && fragment->name.length))
        call = last_call(calls);
    return call && starts_another(calls, call, fragment) ? NULL : call;
}

/* ---- what becomes of it ---- */

static void show(struct chat_calls *calls, struct chat_call *call, const char *data, size_t length,
                 bool lone)
{
    if (length)
        stream_delta(calls->stream, call->block, data, length, lone);
}

static void open_call(struct chat_calls *calls, struct chat_call *call)
{
    if (call->block >= 0)
        return;
    call->block =
        stream_open(calls->stream, BLOCK_TOOL_USE, text_cstr(&call->id), text_cstr(&call->name));
    if (call->block >= 0)
        show(calls, call, text_cstr(&call->early), call->early.length, call->early_lone);
}

void chat_calls_open(struct chat_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        open_call(calls, &calls->items[i]);
}

/* The order of the calls is the order in which they began. */
static struct chat_call *add_call(struct chat_calls *calls)
{
    chat_calls_open(calls);
    if (calls->count == STREAM_MAX_BLOCKS) {
        wire_fail(calls->stream, ERROR_SERVER, false, "the response has too many tool calls");
        return NULL;
    }
    if (!array_reserve(calls, 1)) {
        wire_fail_memory(calls->stream);
        return NULL;
    }
    calls->items[calls->count] = (struct chat_call){.block = -1};
    return &calls->items[calls->count++];
}

/* Names come whole, again and again, in pieces, or longer every time. */
static void add_name(struct chat_call *call, const struct slice *name)
{
    if (call->block >= 0 || !name->length || equals(&call->name, name->data, name->length))
        return;
    if (call->name.length && call->name.length < name->length &&
        !memcmp(call->name.data, name->data, call->name.length))
        text_reset(&call->name);
    text_append(&call->name, name->data, name->length);
}

static void fill(struct chat_calls *calls, struct chat_call *call, const struct fragment *fragment)
{
    if (fragment->has_index && (!call->has_index || fragment->name.length)) {
        call->has_index = true;
        call->index = fragment->index;
    }
    if (!call->id.length)
        text_puts(&call->id, fragment->id);
    add_name(call, &fragment->name);
    if (call->name.length && fragment->arguments.length)
        open_call(calls, call);
    if (call->block >= 0) {
        show(calls, call, fragment->arguments.data, fragment->arguments.length, fragment->lone);
    } else {
        text_append(&call->early, fragment->arguments.data, fragment->arguments.length);
        call->early_lone |= fragment->lone;
    }
    if (call->id.failed || call->name.failed || call->early.failed)
        wire_fail_memory(calls->stream);
}

static void take(struct chat_calls *calls, const struct fragment *fragment)
{
    struct chat_call *call = find_call(calls, fragment);
    /* Without an id and a name nothing begins (FAULTS 53). */
    if (!call && (*fragment->id || fragment->name.length))
        call = add_call(calls);
    if (call)
        fill(calls, call, fragment);
}

/* ---- reading a fragment ---- */

static void read_id(struct fragment *fragment, const json_t *value)
{
    if (json_is_integer(value))
        snprintf(fragment->id, sizeof(fragment->id), "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value) && json_string_length(value) < sizeof(fragment->id))
        snprintf(fragment->id, sizeof(fragment->id), "%s", json_string_value(value));
}

static bool read_function(struct chat_calls *calls, struct fragment *fragment,
                          const json_t *function)
{
    const json_t *arguments = json_object_get(function, "arguments");
    fragment->name.data = json_member_text(function, "name", &fragment->name.length);
    fragment->has_arguments = arguments && !json_is_null(arguments);
    return wire_read_text(calls->stream, arguments, &calls->scratch, &fragment->arguments);
}

void chat_calls_take(struct chat_calls *calls, const json_t *entry, bool lone)
{
    struct fragment fragment = {.lone = lone};
    const json_t *index = json_object_get(entry, "index");
    const json_t *function = json_object_get(entry, "function");
    if (json_is_integer(index)) {
        fragment.has_index = true;
        fragment.index = json_integer_value(index);
    }
    read_id(&fragment, json_object_get(entry, "id"));
    if (read_function(calls, &fragment, json_is_object(function) ? function : entry))
        take(calls, &fragment);
}

void chat_calls_take_legacy(struct chat_calls *calls, const json_t *function, bool lone)
{
    struct fragment fragment = {.lone = lone};
    if (json_is_object(function) && read_function(calls, &fragment, function))
        take(calls, &fragment);
}
