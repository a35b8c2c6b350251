/*
 * mortise/tool.h - say once what a tool takes, and get the rest made for you.
 *
 *     MORTISE_TOOL(word_count, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Count words.",
 *         (string,  text,    "The text.", required),
 *         (integer, longest, "Skip longer words.", range(1, 64), fallback(64)));
 *
 *     static mortise_status word_count(mortise_call *call, const word_count_args *args)
 *     {
 *         return mortise_reply(call, "%zu", count(args->text, args->longest));
 *     }
 *
 *     MORTISE_PLUGIN(.name = "text", .version = "1.0.0", .tools = MORTISE_TOOLS(word_count));
 *
 * From the declaration come the type word_count_args, the table by which the host writes the
 * JSON Schema and checks and fills that struct, and a prototype, so that a wrong function does
 * not compile.  When word_count() runs, its arguments are valid.
 *
 * A FIELD is one of
 *
 *     (KIND, NAME, DESCRIPTION, OPTION…)            the struct gets
 *         string    const char *                        never NULL when required or with a fallback
 *         integer   int64_t
 *         number    double
 *         boolean   bool
 *         json      const char *                        JSON text of any value
 *         strings   mortise_strings                     .items[i], .count
 *         integers  mortise_integers
 *         numbers   mortise_numbers
 *         booleans  mortise_booleans
 *     (record,  NAME, RECORD, DESCRIPTION, OPTION…) a struct in place, made by MORTISE_RECORD
 *     (records, NAME, RECORD, DESCRIPTION, OPTION…) a list of them: .items[i].x, .count
 *
 * An OPTION is one of
 *
 *     required                   the model must give it
 *     fallback(VALUE)            stands in when it is absent: "text", 12, 0.5, true; for every
 *                                other kind a string that holds JSON: fallback("[1, 2]")
 *     range(LOW, HIGH)           integer and number: from LOW to HIGH, both included
 *     length(LOW, HIGH)          string: characters; lists: items
 *     at_least(N)  at_most(N)    one end of either
 *     one_of("a", "b", …)        string, and each of strings
 *     pattern("REGEX")           the same: a regular expression as in JSON Schema, "^[a-z]+$"
 *     format(WORD)               the same: date_time, date, time, email, uri, uuid, ipv4, ipv6,
 *                                hostname
 *
 * At most 32 fields with at most 6 options each.  An absent field without a fallback is zero;
 * args->seen.NAME tells whether the model gave it.
 *
 * NAMES.  Everything that is made for X is called X_something: word_count makes word_count_args,
 * word_count_tool, word_count_meta, word_count_shape, word_count_fields and word_count_run.
 *
 * C11 and later; in C++ use mortise/plugin.h.
 */
#ifndef MORTISE_TOOL_H
#define MORTISE_TOOL_H

#ifdef __cplusplus
#error "mortise/tool.h is for C: in C++ write the structs of mortise/plugin.h"
#else

#include <mortise/declare.h>
#include <mortise/json.h>
#include <mortise/plugin.h>

/* ---- declarations ---------------------------------------------------------------------- */

/* A tool.  FLAGS: MORTISE_READ_ONLY | … of plugin.h, or 0. */
#define MORTISE_TOOL(tool, tool_flags, text, ...)                                                  \
    MORTISE_TOOL_WITH(tool, (), tool_flags, text, __VA_ARGS__)

/* The same with more to say: MORTISE_TOOL_WITH(find, (title("Find files"), scopes("a")), 0, …)
 *
 *     name("NAME")            what the model calls it, when it is not the function's name
 *     title("TITLE")          a name for people
 *     output_schema("JSON")   the JSON Schema of the result
 *     scopes("A", "B", …)     what the caller must hold
 *     examples("JSON", …)     arguments as the model should write them
 *
 * and for a tool that is marked MORTISE_SANDBOX_REQUIRED, of what plugin.h says there,
 *
 *     reads("PATH", …)        files and folders of the system that it reads inside
 *     runs("PATH", …)         programs and their libraries that it runs inside
 *     inside(FLAGS)           MORTISE_INSIDE_PROCESSES | …
 *     prepare(FUNCTION)       what is done once for all calls; FUNCTION stands before the declaration:
 *                             static mortise_status FUNCTION(const mortise_tool *self,
 *                                                            const mortise_host *host)
 *                             and fails after mortise_refuse(host, "…")
 */
#define MORTISE_TOOL_WITH(tool, words, tool_flags, text, ...)                                      \
    MORTISE__CHECK_TOOL(tool, words, tool_flags, text)                                             \
    MORTISE_RECORD(tool, __VA_ARGS__);                                                             \
    static mortise_status tool(mortise_call *call, const tool##_args *args);                       \
    static mortise_status tool##_run(const mortise_tool *self, mortise_call *call,                 \
                                     const void *args)                                             \
    {                                                                                              \
        (void)self;                                                                                \
        return tool(call, args);                                                                   \
    }                                                                                              \
    MORTISE__DEFINE(tool, words, tool_flags, text, .shape = &tool##_shape)

/* A tool that needs nothing but its arguments:
 *     static mortise_answer NAME(const NAME_args *args)
 *     {
 *         return mortise_text("%g", args->a + args->b);
 *     } */
#define MORTISE_FUNCTION(tool, tool_flags, text, ...)                                              \
    MORTISE_FUNCTION_WITH(tool, (), tool_flags, text, __VA_ARGS__)

/* The same with the words of MORTISE_TOOL_WITH. */
#define MORTISE_FUNCTION_WITH(tool, words, tool_flags, text, ...)                                  \
    MORTISE__CHECK_TOOL(tool, words, tool_flags, text)                                             \
    MORTISE_RECORD(tool, __VA_ARGS__);                                                             \
    static mortise_answer tool(const tool##_args *args);                                           \
    static mortise_status tool##_run(const mortise_tool *self, mortise_call *call,                 \
                                     const void *args)                                             \
    {                                                                                              \
        (void)self;                                                                                \
        return mortise_give_answer(call, tool(args));                                              \
    }                                                                                              \
    MORTISE__DEFINE(tool, words, tool_flags, text, .shape = &tool##_shape)

/* A tool that brings its own JSON Schema and reads its arguments itself:
 *     static mortise_status NAME(mortise_call *call, const char *json); */
#define MORTISE_TOOL_RAW(tool, tool_flags, text, schema)                                           \
    MORTISE_TOOL_RAW_WITH(tool, (), tool_flags, text, schema)

/* The same with the words of MORTISE_TOOL_WITH. */
#define MORTISE_TOOL_RAW_WITH(tool, words, tool_flags, text, schema)                               \
    MORTISE__CHECK_TOOL(tool, words, tool_flags, text)                                             \
    static mortise_status tool(mortise_call *call, const char *json);                              \
    static mortise_status tool##_run(const mortise_tool *self, mortise_call *call,                 \
                                     const void *args)                                             \
    {                                                                                              \
        (void)self;                                                                                \
        return tool(call, args);                                                                   \
    }                                                                                              \
    MORTISE__DEFINE(tool, words, tool_flags, text, .input_schema = (schema))

/* In the place of fields: a tool that takes nothing. */
#define MORTISE_NO_ARGS (nothing)

/* A struct that occurs in arguments: the type NAME_args, for (record, …) and (records, …). */
#define MORTISE_RECORD(shape_name, ...)                                                            \
    MORTISE__CHECK_NUMBER(shape_name, MORTISE__EACH(MORTISE__WEIGHT, ~, __VA_ARGS__))              \
    MORTISE__EACH(MORTISE__CHECK, shape_name, __VA_ARGS__)                                         \
    typedef struct shape_name##_args {                                                             \
        MORTISE__EACH(MORTISE__MEMBER, shape_name, __VA_ARGS__)                                    \
        struct {                                                                                   \
            MORTISE__EACH(MORTISE__SEEN, shape_name, __VA_ARGS__) bool mortise__end;               \
        } seen;                                                                                    \
    } shape_name##_args;                                                                           \
    static const mortise_field shape_name##_fields[] = {                                           \
        MORTISE__EACH(MORTISE__ROW, shape_name, __VA_ARGS__){.name = NULL}};                       \
    static const mortise_shape shape_name##_shape = {                                              \
        .size = sizeof(mortise_shape),                                                             \
        .struct_size = sizeof(shape_name##_args),                                                  \
        .field_size = sizeof(mortise_field),                                                       \
        .field_count = sizeof(shape_name##_fields) / sizeof(mortise_field) - 1,                    \
        .fields = shape_name##_fields,                                                             \
    }

/* A set of hooks: MORTISE_HOOK(guard, .priority = 10, .pre_tool_call = look_at_it); makes
 * guard_hooks, whose functions get the plugin's state. */
#define MORTISE_HOOK(hook, ...)                                                                    \
    static const mortise_hooks hook##_hooks = {                                                    \
        .size = sizeof(mortise_hooks), .name = #hook, __VA_ARGS__}

/* Where .add puts its tools. */
typedef struct mortise_tool_list mortise_tool_list;

/* What a plugin consists of; used as MORTISE_PLUGIN(.name = "text", .tools = …). */
typedef struct mortise_plugin_parts {
    const char *name;
    const char *version;
    const mortise_tool *const *tools;  /* MORTISE_TOOLS(…) */
    const mortise_hooks *const *hooks; /* MORTISE_HOOKS(…) */

    /* Makes the state that all tools and hooks of the plugin share: mortise_state(call).
     * Returns NULL after mortise_refuse() when the plugin cannot work.  May be absent.  [load] */
    void *(*open)(const mortise_host *host);
    /* Makes more tools, after open(), by mortise_add_tool().  May be absent.  [load] */
    void (*add)(void *state, mortise_tool_list *list);
    /* Gets that state after the last call has ended.  May be absent.  [load] */
    void (*close)(void *state);
    /* Names the type of the state, for mortise_hook_ops.tool_state.  May be absent. */
    const char *state_tag;
    /* Asked once for each set of hooks, after open(): false leaves it out, so that what is not
     * configured costs nothing in a run.  May be absent: all are wanted.  [load] */
    bool (*wants)(const void *state, const mortise_hooks *hooks);
    /* The same for each of .tools: one that is left out is not there for the model either.  May be
     * absent: all are wanted.  [load] */
    bool (*wants_tool)(const void *state, const mortise_tool *tool);
    /* For a plugin that protects.  If its open() refuses, it is loaded all the same, without
     * tools and with hooks that fail every run with that reason: a run without it would be
     * worse than none. */
    bool guard;
} mortise_plugin_parts;

/* Up to 32 names of tools, and of hooks. */
#define MORTISE_TOOLS(...)                                                                         \
    (const mortise_tool *const[])                                                                  \
    {                                                                                              \
        MORTISE__EACH(MORTISE__TOOL_POINTER, ~, __VA_ARGS__) NULL                                  \
    }
#define MORTISE_HOOKS(...)                                                                         \
    (const mortise_hooks *const[])                                                                 \
    {                                                                                              \
        MORTISE__EACH(MORTISE__HOOK_POINTER, ~, __VA_ARGS__) NULL                                  \
    }

/* Once in a plugin: its two exported symbols. */
#define MORTISE_PLUGIN(...)                                                                        \
    static const mortise_plugin_parts mortise__parts = {__VA_ARGS__};                              \
    mortise_plugin *tool_definition(const mortise_host *host)                                      \
    {                                                                                              \
        return mortise_open_plugin(host, &mortise__parts);                                         \
    }                                                                                              \
    const mortise_stamp mortise_plugin_stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR,                  \
                                                MORTISE_ABI_MINOR}

/* ---- lists in arguments ------------------------------------------------------------------ */

/* A field of kind strings. */
typedef struct mortise_strings {
    const char *const *items;
    size_t count;
} mortise_strings;

/* A field of kind integers. */
typedef struct mortise_integers {
    const int64_t *items;
    size_t count;
} mortise_integers;

/* A field of kind numbers. */
typedef struct mortise_numbers {
    const double *items;
    size_t count;
} mortise_numbers;

/* A field of kind booleans. */
typedef struct mortise_booleans {
    const bool *items;
    size_t count;
} mortise_booleans;

/* The host writes a mortise_list where the author reads one of these. */
#define MORTISE__SAME_AS_LIST(type)                                                                \
    _Static_assert(sizeof(type) == sizeof(mortise_list)                                            \
                       && offsetof(type, items) == offsetof(mortise_list, items)                   \
                       && offsetof(type, count) == offsetof(mortise_list, count),                  \
                   "mortise: " #type " must look like mortise_list")
MORTISE__SAME_AS_LIST(mortise_strings);
MORTISE__SAME_AS_LIST(mortise_integers);
MORTISE__SAME_AS_LIST(mortise_numbers);
MORTISE__SAME_AS_LIST(mortise_booleans);

/* ---- in a call: results and errors (in the SDK's library) ------------------------------------ */

#define MORTISE__PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Sets the result, of any length; a second one takes the place of the first.  MORTISE_NO_MEMORY;
 * MORTISE_INVALID: the call is over.  Both are what the tool can return.  [thread-safe] */
MORTISE__OURS mortise_status mortise_reply(mortise_call *call, const char *format, ...)
    MORTISE__PRINTF(2, 3);
/* The same with JSON text; strings go into it by mortise_quote(). */
MORTISE__OURS mortise_status mortise_reply_json(mortise_call *call, const char *format, ...)
    MORTISE__PRINTF(2, 3);

/* Tells the model what went wrong and what to do about it.  Returns MORTISE_FAILED, for
 * `return mortise_fail(call, "…")`; or MORTISE_NO_MEMORY, which fails the call as well.  The category
 * is MORTISE_INTERNAL.  [thread-safe] */
MORTISE__OURS mortise_status mortise_fail(mortise_call *call, const char *format, ...)
    MORTISE__PRINTF(2, 3);
/* The same with a category; `code` is for programs, such as "db.locked", or NULL. */
MORTISE__OURS mortise_status mortise_fail_as(mortise_call *call, mortise_category category,
                                             const char *code, const char *format, ...)
    MORTISE__PRINTF(4, 5);
/* The same for a category that may be tried again, when it is known how many milliseconds to wait
 * (0: it is not): the model is told, so the message need not. */
MORTISE__OURS mortise_status mortise_fail_retry(mortise_call *call, mortise_category category,
                                                const char *code, int64_t after_ms,
                                                const char *format, ...)
    MORTISE__PRINTF(5, 6);

/* `text` as a JSON string, quotes included, in memory that dies with the call; never NULL:
 * without memory it is the text `null`.  [thread-safe] */
MORTISE__OURS const char *mortise_quote(mortise_call *call, const char *text);
/* How much of the first `length` bytes of a text ends with a whole character of UTF-8: `length`, or
 * up to three bytes less. */
MORTISE__OURS size_t mortise_cut(const char *text, size_t length);

/* ---- the answer of a MORTISE_FUNCTION ------------------------------------------------------ */

typedef struct mortise_answer {
    char *text;    /* from malloc(), and freed by the SDK; NULL: there was no memory */
    bool is_json;  /* JSON text */
    bool is_error; /* what went wrong, for the model */
} mortise_answer;

/* The result, as mortise_reply() and mortise_reply_json() give it, and what mortise_fail() says.
 * [thread-safe] */
MORTISE__OURS mortise_answer mortise_text(const char *format, ...) MORTISE__PRINTF(1, 2);
MORTISE__OURS mortise_answer mortise_json(const char *format, ...) MORTISE__PRINTF(1, 2);
MORTISE__OURS mortise_answer mortise_failure(const char *format, ...) MORTISE__PRINTF(1, 2);

/* What the tool of a MORTISE_FUNCTION does with it: replies or fails, and frees it.  Its status is
 * the tool's. */
MORTISE__OURS mortise_status mortise_give_answer(mortise_call *call, mortise_answer answer);

/* ---- in a hook ----------------------------------------------------------------------------- */

/* Why: goes with MORTISE_SKIP, MORTISE_ABORT, MORTISE_PAUSE and MORTISE_HOOK_FAILED.  [hook] */
MORTISE__OURS void mortise_hook_reason(mortise_hook *hook, const char *format, ...)
    MORTISE__PRINTF(2, 3);
/* pre_tool_call: the result that stands in for the tool's, with MORTISE_RESPOND.  The status is
 * that of mortise_hook_ops.respond.  [hook] */
MORTISE__OURS mortise_status mortise_hook_respond(mortise_hook *hook, bool is_error,
                                                  const char *format, ...) MORTISE__PRINTF(3, 4);
/* turn_end, pre_llm_request: adds a message; `role` is "user", "assistant" or "system".  The status
 * is that of mortise_hook_ops.append.  [hook] */
MORTISE__OURS mortise_status mortise_hook_append_text(mortise_hook *hook, const char *role,
                                                      const char *text);

/* State of one run: zeroed memory of `size` bytes, the same at every event of a run, another
 * one in the next.  `runs` is part of the plugin's state and zero at first;
 * mortise_runs_release() frees it in close().  Only the hooks of its run touch the memory, and
 * never two at once.  Of a plugin's runs the last 1024 that were asked for are kept.
 * NULL: no memory. */
typedef struct mortise_runs {
    void *newest;
    int lock;
} mortise_runs;
MORTISE__OURS void *mortise_run_state(mortise_runs *runs, mortise_hook *hook, size_t size);
MORTISE__OURS void mortise_runs_release(mortise_runs *runs);

/* ---- with the host: open(), and wherever the plugin keeps the host's pointer --------------- */

/* Keeps the reason, in open() and in a tool's prepare(); returns NULL, for
 * `return mortise_refuse(host, "…")` in open().  [load] */
MORTISE__OURS void *mortise_refuse(const mortise_host *host, const char *format, ...)
    MORTISE__PRINTF(2, 3);
/* One line for the operator; `level` is MORTISE_LOG_ERROR, ….  [thread-safe] */
MORTISE__OURS void mortise_log(const mortise_host *host, uint32_t level, const char *format, ...)
    MORTISE__PRINTF(3, 4);

/* A tool that is only known while the plugin is loaded, such as one of a bridge.  Texts and lists
 * are copied; what stays zero is absent. */
typedef struct mortise_new_tool {
    const char *name;        /* [A-Za-z0-9_-]{1,64} */
    const char *description;
    uint32_t flags;          /* MORTISE_READ_ONLY | … */
    const char *input_schema; /* a JSON Schema; without one: a warning, and any object is taken */
    const char *output_schema;
    const char *title;
    const char *const *scopes;   /* NULL-terminated */
    const char *const *examples; /* NULL-terminated */
    /* It comes from elsewhere: if the host cannot use it, because of its schema, because another
     * plugin's tool has its name or whatever else, it is left out with a warning, and the others
     * stay. */
    bool is_optional;
    /* `json` is an object that fits the schema, and lives until the call is finished.  [call] */
    mortise_status (*run)(mortise_call *call, const char *json, void *data);
    void *data;
    /* Gets `data`, once: after the last call, before close(), or at once when the tool could not
     * be added.  May be absent.  [load] */
    void (*release)(void *data);
} mortise_new_tool;

/* In .add: one tool more.  MORTISE_INVALID: it has no name or no function; MORTISE_NO_MEMORY.  The
 * plugin is refused then, so nothing needs to be done about it.  [load] */
MORTISE__OURS mortise_status mortise_add_tool(mortise_tool_list *list,
                                              const mortise_new_tool *tool);

/* What tool_definition() does; MORTISE_PLUGIN() calls it. */
MORTISE__OURS mortise_plugin *mortise_open_plugin(const mortise_host *host,
                                                  const mortise_plugin_parts *parts);

/* The plugin's section of the configuration, a JSON object.  One member of it is read by
 * mortise_config_string(), …, which are mortise_json_string(), … over it: MORTISE_NOT_FOUND when it
 * is absent or null, MORTISE_INVALID when it is something else or does not fit, and only
 * MORTISE_OK changes what the last parameters point to.  [thread-safe] */
static inline const char *mortise_config(const mortise_host *host)
{
    const char *json = host->config(host);
    return json ? json : "{}";
}

/* One member that is a text; it gets a NUL behind it. */
static inline mortise_status mortise_config_string(const mortise_host *host, const char *key,
                                                   char *out, size_t size)
{
    return mortise_json_string(mortise_config(host), key, out, size);
}

/* A whole number. */
static inline mortise_status mortise_config_integer(const mortise_host *host, const char *key,
                                                    int64_t *out)
{
    return mortise_json_integer(mortise_config(host), key, out);
}

/* Any number; never infinite. */
static inline mortise_status mortise_config_number(const mortise_host *host, const char *key,
                                                   double *out)
{
    return mortise_json_number(mortise_config(host), key, out);
}

/* true or false. */
static inline mortise_status mortise_config_boolean(const mortise_host *host, const char *key,
                                                    bool *out)
{
    return mortise_json_boolean(mortise_config(host), key, out);
}

/* A list of texts, which ends with NULL, in one block for free(). */
static inline mortise_status mortise_config_strings(const mortise_host *host, const char *key,
                                                    char ***out)
{
    return mortise_json_strings(mortise_config(host), key, out);
}

/* What tool_definition() would return is another plugin by now, such as one with a tool more: the
 * host loads it anew between two requests to the model, so that open() and .add run once more while
 * calls of this one may go on.  Since 1.2; MORTISE_UNSUPPORTED: the host is older, and the plugin
 * stays as it is.  [thread-safe] */
static inline mortise_status mortise_changed(const mortise_host *host)
{
    if (!MORTISE_HAS(host, mortise_host, changed) || !host->changed)
        return MORTISE_UNSUPPORTED;
    host->changed(host);
    return MORTISE_OK;
}

/* ---- in a call: everything else.  All [thread-safe] until the call is finished ------------- */

/* Whether this host has the function `member` in the table `ops` of type `type`. */
#define MORTISE__CAN(ops, type, member) (MORTISE_HAS(ops, type, member) && (ops)->member)
#define MORTISE__CALL_CAN(call, member) MORTISE__CAN((call)->ops, mortise_call_ops, member)

/* What open() returned. */
static inline void *mortise_state(const mortise_call *call)
{
    return call->tool->state;
}

/* Sets a text of known length as the result. */
static inline mortise_status mortise_reply_text(mortise_call *call, const char *text, size_t length)
{
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text, length);
}

/* Whether the call shall stop; then clean up and return MORTISE_CANCELLED. */
static inline bool mortise_cancelled(mortise_call *call)
{
    return MORTISE__CALL_CAN(call, cancelled) && call->ops->cancelled(call);
}

/* Calls back once, from a thread of the host's, when the call is cancelled, or at once if it
 * already is.  Only one per call: a second is MORTISE_INVALID. */
static inline mortise_status mortise_on_cancel(mortise_call *call, void (*callback)(void *data),
                                               void *data)
{
    return MORTISE__CALL_CAN(call, on_cancel) ? call->ops->on_cancel(call, callback, data)
                                              : MORTISE_UNSUPPORTED;
}

/* Readable once the call is cancelled: to poll, not to read or close.  -1: none. */
static inline int mortise_cancel_fd(mortise_call *call)
{
    return MORTISE__CALL_CAN(call, cancel_fd) ? call->ops->cancel_fd(call) : -1;
}

/* Milliseconds until the call must be finished; -1: no limit. */
static inline int64_t mortise_remaining_ms(mortise_call *call)
{
    return MORTISE__CALL_CAN(call, remaining_ms) ? call->ops->remaining_ms(call) : -1;
}

/* Text for those who watch, never for the model; `stream` is "stdout", "stderr" or any label. */
static inline void mortise_emit(mortise_call *call, const char *stream, const char *text,
                                size_t length)
{
    if (MORTISE__CALL_CAN(call, emit))
        call->ops->emit(call, stream, text, length);
}

/* How far it is: done of total (0: not known), with a message or NULL. */
static inline void mortise_progress(mortise_call *call, double done, double total,
                                    const char *message)
{
    if (MORTISE__CALL_CAN(call, progress))
        call->ops->progress(call, done, total, message);
}

/* "call", "session", "user", "workspace", "metadata.KEY", …, all of mortise_call_ops.context;
 * NULL: not known. */
static inline const char *mortise_context(mortise_call *call, const char *key)
{
    return MORTISE__CALL_CAN(call, context) ? call->ops->context(call, key) : NULL;
}

/* Zeroed memory, aligned for anything, that dies with the call; NULL: none left. */
static inline void *mortise_alloc(mortise_call *call, size_t bytes)
{
    return call->ops->alloc(call, bytes);
}

/* A file that goes with the result: its bytes, at most 10 MiB, which are copied.  MORTISE_INVALID:
 * it cannot be used, and the operator is told why; the result is not affected. */
static inline mortise_status mortise_attach_bytes(mortise_call *call, const char *mime_type,
                                                  const char *name, const void *data,
                                                  size_t length)
{
    const mortise_attachment attachment = {.size = sizeof(attachment), .mime_type = mime_type,
                                           .name = name, .data = data, .length = length};
    return MORTISE__CALL_CAN(call, attach) ? call->ops->attach(call, &attachment)
                                           : MORTISE_UNSUPPORTED;
}

/* The same, of a file that is elsewhere. */
static inline mortise_status mortise_attach_uri(mortise_call *call, const char *mime_type,
                                                const char *name, const char *uri)
{
    const mortise_attachment attachment = {.size = sizeof(attachment), .mime_type = mime_type,
                                           .name = name, .uri = uri};
    return MORTISE__CALL_CAN(call, attach) ? call->ops->attach(call, &attachment)
                                           : MORTISE_UNSUPPORTED;
}

/* Ends a call whose function returned MORTISE_PENDING; `call` and its arguments are gone then. */
static inline void mortise_finish(mortise_call *call, mortise_status status)
{
    call->ops->finish(call, status);
}

/* "session", "user", …, as mortise_context(). */
static inline const char *mortise_hook_context(mortise_hook *hook, const char *key)
{
    return MORTISE__CAN(hook->ops, mortise_hook_ops, context) ? hook->ops->context(hook, key)
                                                              : NULL;
}

#endif
#endif
