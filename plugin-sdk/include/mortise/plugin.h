/*
 * mortise/plugin.h - the binary interface between the mortise host and a plugin.
 *
 * A plugin is a shared object that exports two symbols:
 *
 *     const mortise_stamp mortise_plugin_stamp;              read before any call is made
 *     mortise_plugin *tool_definition(const mortise_host *host);         the factory
 *
 * In C both are written by MORTISE_PLUGIN() of <mortise/tool.h>.  This file alone is what a
 * plugin in another language needs.  It compiles as C11 and later and as C++11 and later.
 *
 * THREADS.  Every function carries one of these marks:
 *   [load]         never two at once in the process, and none beside a call of the plugin that
 *                  is made or closed
 *   [call]         on a worker thread; one tool may be in several calls at once, unless it
 *                  is marked MORTISE_SERIAL
 *   [hook]         on the thread that runs the turn loop, never two at once in one session
 *   [thread-safe]  from any thread, at any time, also threads that the plugin made
 *
 * MEMORY.  Whoever allocates frees.  Text that is handed to the other side is borrowed
 * until that function returns, unless its comment says longer; the receiver copies what it
 * keeps.  free() is never called on a foreign pointer.
 *
 * TEXT.  UTF-8 with a length; a `const char *` without a length beside it ends with NUL.
 * The host makes what it receives valid: bad bytes and NUL become U+FFFD.
 *
 * GROWTH.  Structs start with `size`, the bytes that their author compiled, and grow only
 * at the end.  A reader looks at a member only if `size` covers it (MORTISE_HAS).  Zero
 * means "absent" for every member that is added later.  Arrays hold pointers, so they do
 * not depend on the size of what is pointed to.
 *
 * PROCESSES.  Every function can be forwarded over a socket: a plugin must not expect
 * that it shares memory with the host.
 */
#ifndef MORTISE_PLUGIN_H
#define MORTISE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORTISE_ABI_MAJOR 1u          /* another one: an old plugin cannot be loaded */
#define MORTISE_ABI_MINOR 2u          /* grows with every addition */
#define MORTISE_MAGIC     0x54524f4du /* "MORT" */

/* For the two symbols that a plugin exports. */
#define MORTISE_EXPORT __attribute__((visibility("default")))

/* Whether the other side knows `member` of the struct that `pointer` points to. */
#ifdef __cplusplus
#define MORTISE_HAS(pointer, type, member)                                                         \
    ((pointer)->size >= offsetof(type, member) + sizeof(static_cast<type *>(nullptr)->member))
#else
#define MORTISE_HAS(pointer, type, member)                                                         \
    ((pointer)->size >= offsetof(type, member) + sizeof(((type *)0)->member))
#endif

/* How a function ended: below MORTISE_OK it has failed. */
typedef int32_t mortise_status;
enum {
    MORTISE_OK          = 0,
    MORTISE_PENDING     = 1,  /* from run() only: mortise_finish() comes later */
    MORTISE_FAILED      = -1, /* after fail(): the model is told */
    MORTISE_CANCELLED   = -2, /* the call stopped because it was cancelled */
    MORTISE_UNSUPPORTED = -3, /* the other side is too old, or cannot */
    MORTISE_NO_MEMORY   = -4,
    MORTISE_DENIED      = -5, /* not allowed to this plugin, or not at this place */
    MORTISE_NOT_FOUND   = -6,
    MORTISE_INVALID     = -7, /* what was passed in cannot be used */
    MORTISE_CONFLICT    = -8  /* somebody else was faster: look again */
};

/* Which interface a plugin was built for. */
typedef struct mortise_stamp {
    uint32_t magic;
    uint16_t abi_major;
    uint16_t abi_minor;
} mortise_stamp;

/* ---- errors -------------------------------------------------------------------------- */

typedef uint32_t mortise_category;
enum {
    MORTISE_INTERNAL      = 0, /* what is meant when nothing is said */
    MORTISE_INVALID_INPUT = 1,
    MORTISE_UNAUTHORIZED  = 2,
    MORTISE_FORBIDDEN     = 3,
    MORTISE_MISSING       = 4, /* "not_found" */
    MORTISE_RATE_LIMITED  = 5, /* may be tried again */
    MORTISE_TIMEOUT       = 6, /* may be tried again */
    MORTISE_UNAVAILABLE   = 7, /* may be tried again */
    MORTISE_ABORTED       = 8, /* "cancelled" */
    MORTISE_NOT_SUPPORTED = 9  /* "unsupported" */
};

/* What went wrong, for mortise_call_ops.fail. */
typedef struct mortise_error {
    uint32_t size;
    mortise_category category;
    const char *component; /* who failed, such as "database"; NULL: "tool" */
    const char *code;      /* for programs, such as "db.locked"; NULL: "tool.error" */
    const char *message;   /* for the model and people: what happened, what to do */
    size_t message_length;
    int64_t retry_after_ms; /* of a category that may be tried again; 0: not known */
} mortise_error;

/* ---- what a tool's arguments look like ------------------------------------------------ */

typedef uint32_t mortise_kind;
enum {
    MORTISE_STRING   = 1, /* const char *      never holds a NUL */
    MORTISE_INTEGER  = 2, /* int64_t */
    MORTISE_NUMBER   = 3, /* double */
    MORTISE_BOOLEAN  = 4, /* bool */
    MORTISE_JSON     = 5, /* const char *      JSON text of any value */
    MORTISE_OBJECT   = 6, /* the record's struct itself, in place */
    MORTISE_STRINGS  = 7, /* mortise_list of const char * */
    MORTISE_INTEGERS = 8, /* mortise_list of int64_t */
    MORTISE_NUMBERS  = 9, /* mortise_list of double */
    MORTISE_BOOLEANS = 10, /* mortise_list of bool */
    MORTISE_RECORDS  = 11  /* mortise_list of the record's struct */
};

/* A list of values, one after the other. */
typedef struct mortise_list {
    const void *items;
    size_t count;
} mortise_list;

/* mortise_field.flags: it must be given, and which of `min` and `max` counts. */
enum {
    MORTISE_REQUIRED = 1u << 0,
    MORTISE_HAS_MIN  = 1u << 1,
    MORTISE_HAS_MAX  = 1u << 2
};

typedef struct mortise_shape mortise_shape;

/* One argument: what the model is told, and where its value goes. */
typedef struct mortise_field {
    const char *name;
    const char *description;     /* or NULL */
    mortise_kind kind;
    uint32_t flags;              /* MORTISE_REQUIRED, … */
    uint32_t offset;             /* of the value in the struct */
    uint32_t seen_offset;        /* of a bool that tells whether the model gave it */
    double min, max;             /* of the value; for strings their length in characters (code
                                  * points), for lists the number of their items */
    const char *fallback;        /* JSON text that stands in when it is absent, or NULL */
    const char *const *choices;  /* strings that are allowed, NULL-terminated, or NULL */
    const mortise_shape *record; /* of MORTISE_OBJECT and MORTISE_RECORDS */
    const char *pattern;         /* strings: a regular expression as in JSON Schema, or NULL */
    const char *format;          /* strings: "date-time", "date", "time", "email", "uri", "uuid",
                                  * "ipv4", "ipv6" or "hostname", which are checked, or NULL */
} mortise_field;

/* A struct, described field by field. */
struct mortise_shape {
    uint32_t size;
    uint32_t struct_size; /* of the struct that is described */
    uint32_t field_size;  /* from one field to the next: sizeof(mortise_field) of its author */
    uint32_t field_count;
    const mortise_field *fields;
};

/* ---- tools ---------------------------------------------------------------------------- */

/* An author's word about a tool.  A bit that a host does not know is a reason to refuse
 * the plugin: it may be one that matters for safety. */
enum {
    MORTISE_READ_ONLY        = 1u << 0, /* changes nothing outside */
    MORTISE_CONCURRENCY_SAFE = 1u << 1, /* may run beside other calls, its own included */
    MORTISE_LONG_RUNNING     = 1u << 2, /* answers at once and works on in the background */
    MORTISE_SERIAL           = 1u << 3, /* never entered twice at the same time */
    MORTISE_SANDBOX_REQUIRED = 1u << 4, /* runs in a sandbox, or not at all (see below) */
    MORTISE_DESTRUCTIVE      = 1u << 5, /* may delete or overwrite */
    MORTISE_IDEMPOTENT       = 1u << 6, /* a second call with the same arguments changes nothing more */
    MORTISE_OPEN_WORLD       = 1u << 7  /* reaches beyond this machine */
};

/*
 * A tool that is marked MORTISE_SANDBOX_REQUIRED runs each call in a process of its own, which is
 * copied from one where the plugin was loaded and prepare() was called, and ends with the call.
 * Inside there is no network, no file but an empty folder that is the current one, HOME and TMPDIR
 * and goes with the call, no variable of the host's environment and no secret; time, memory, output
 * and disk are limited, and what a call leaves in memory is gone.  What a tool needs beyond that it
 * says here; whatever is no software of the system, only the operator can grant.
 */
enum {
    MORTISE_INSIDE_PROCESSES = 1u << 0, /* starts processes, at most until mortise/sandbox.h's
                                         * mortise_no_more_processes() */
    MORTISE_INSIDE_LIBRARIES = 1u << 1, /* loads libraries that it may read */
    MORTISE_INSIDE_JIT       = 1u << 2  /* makes machine code while it runs */
};

/* What is known of a tool before it runs. */
typedef struct mortise_tool_meta {
    uint32_t size;
    uint32_t flags;
    const char *name;          /* [A-Za-z0-9_-]{1,64} */
    const char *description;   /* NULL or "": "Tool: NAME" */
    const mortise_shape *shape; /* typed arguments, or NULL and then … */
    const char *input_schema;  /* … a JSON Schema (an object): run() gets the JSON text */
    const char *output_schema; /* of the result, or NULL */
    const char *const *scopes; /* what the caller must hold, NULL-terminated, or NULL */
    const char *title;         /* a name for people, or NULL */
    const char *const *examples; /* arguments as JSON objects, which the model is shown;
                                  * NULL-terminated, or NULL */
    /* Since 1.1, of a tool that is marked MORTISE_SANDBOX_REQUIRED.  Software of the system: files and
     * folders below /usr, /bin, /sbin and /lib*, /etc/ssl/certs and the like; what is not there is
     * passed over.  NULL-terminated, or NULL. */
    const char *const *inside_reads;
    const char *const *inside_runs; /* programs, with their libraries; they are also read */
    uint32_t inside;                /* MORTISE_INSIDE_PROCESSES | … */
    uint32_t reserved;
} mortise_tool_meta;

typedef struct mortise_call mortise_call;
typedef struct mortise_tool mortise_tool;
typedef struct mortise_host mortise_host;

/* Meta plus instance. */
struct mortise_tool {
    uint32_t size;
    uint32_t reserved;
    const mortise_tool_meta *meta; /* read once, at registration */
    void *state;                   /* the instance; the host never looks inside */
    const char *state_tag;         /* names the type of `state` for mortise_hook_ops.tool_state, or NULL */

    /* Does the work.  `args` is the struct that meta->shape describes, or a `const char *`
     * (a JSON object's text) when there is no shape; it lives until the call is finished.
     * Returns MORTISE_OK, after reply() if there is something to say; MORTISE_PENDING when
     * finish() will come, from any thread, perhaps before run() returned; or a failure,
     * after fail() if there is something to say.  [call] */
    mortise_status (*run)(const mortise_tool *self, mortise_call *call, const void *args);

    /* Since 1.1, of a tool that is marked MORTISE_SANDBOX_REQUIRED, or NULL: does once what each call
     * would have to do, such as loading an interpreter, in the process that calls are copied from
     * and before the first of them.  No thread that it starts may be left.  Anything but MORTISE_OK,
     * after refuse() of `host` if there is something to say, is the failure of all calls.  [load] */
    mortise_status (*prepare)(const mortise_tool *self, const mortise_host *host);

    uint32_t options; /* since 1.2: MORTISE_MAY_BE_LEFT_OUT */
    uint32_t reserved_2;
};

/* mortise_tool.options. */
enum {
    /* A tool of whose meta the host cannot make use, or whose name another plugin's tool has, is
     * left out with a warning, and the plugin is loaded without it: for what the author of the
     * plugin has not written. */
    MORTISE_MAY_BE_LEFT_OUT = 1u << 0
};

/* ---- one call, as its tool sees it ----------------------------------------------------- */

enum {
    MORTISE_TEXT_RESULT = 0, /* plain text, given to the model as it is */
    /* JSON text, given to the model as it is.  An object with a list "inline_data" (of
     * {"mime_type", "data", "name"}, the data in base64 or as a list of bytes) or "file_data" (of
     * {"mime_type", "uri", "name"}) is taken apart: these are attachments, and the result is its
     * member "response", or else what remains.  An element that cannot be used makes an error of
     * the whole result. */
    MORTISE_JSON_RESULT = 1
};

/* A file or an image that goes with the result.  What the model's provider cannot take is
 * replaced by a line that says so. */
typedef struct mortise_attachment {
    uint32_t size;
    uint32_t reserved;
    const char *mime_type;
    const char *name;  /* for people, or NULL */
    const void *data;  /* the bytes, or NULL and then … */
    size_t length;     /* at most 10 MiB */
    const char *uri;   /* … where they are; with the bytes: what they are the content of, or NULL */
} mortise_attachment;

/* All [thread-safe], from run() until finish() or the return of run(). */
typedef struct mortise_call_ops {
    uint32_t size;
    uint32_t reserved;

    /* The result; a second reply takes the place of the first.  `type` is MORTISE_TEXT_RESULT or
     * MORTISE_JSON_RESULT.  MORTISE_INVALID: another type, or the call is over;
     * MORTISE_NO_MEMORY. */
    mortise_status (*reply)(mortise_call *call, uint32_t type, const char *text, size_t length);

    /* Keeps the error that the failing return of run() or finish() stands for.  Returns
     * MORTISE_FAILED, so that `return fail(…)` reads well. */
    mortise_status (*fail)(mortise_call *call, const mortise_error *error);

    /* A file that goes with the result; at most 20, of 32 MiB together.  MORTISE_INVALID when it
     * cannot be used (too large, a mime type that is none, a URI above 8 KiB); the operator is
     * told why.  MORTISE_NO_MEMORY. */
    mortise_status (*attach)(mortise_call *call, const mortise_attachment *attachment);

    /* Text for those who watch, never for the model; `stream` is "stdout", "stderr" or any
     * label.  Chunks above 8192 bytes and calls above 1 MiB are cut, visibly. */
    void (*emit)(mortise_call *call, const char *stream, const char *text, size_t length);

    /* How far it is: done of total (0: not known), with an optional message. */
    void (*progress)(mortise_call *call, double done, double total, const char *message);

    /* Whether the call shall stop.  Cheap enough for inner loops. */
    bool (*cancelled)(mortise_call *call);

    /* Calls back once, on a thread of the host's, when the call is cancelled, or at once
     * if it already is.  Never after the call is finished.  Only one per call: a second is
     * MORTISE_INVALID. */
    mortise_status (*on_cancel)(mortise_call *call, void (*callback)(void *data), void *data);

    /* A descriptor that is readable once the call is cancelled; to poll, never to read or
     * close.  -1: none. */
    int (*cancel_fd)(mortise_call *call);

    /* Milliseconds until the call must be finished; -1: no limit. */
    int64_t (*remaining_ms)(mortise_call *call);

    /* What is known of the call; NULL: not known.  Lives as long as the call.
     *   "call"         its id                     "invocation"   the id of the run
     *   "user"         who asks, or "anonymous"   "session"      the id of the session
     *   "tenant"       for whom                   "agent"        the agent's name
     *   "app"          the application's name, else the agent's
     *   "batch_index"  from 0, in the response    "batch_size"   calls in the response
     *   "workspace"    the folder to work in, an absolute path without symbolic links: a tool
     *                  takes relative paths from there, and stays below it
     *   "scopes"       what the caller holds, separated by spaces
     *   "metadata"     of the request, a JSON object; "metadata.KEY" is one string of it */
    const char *(*context)(mortise_call *call, const char *key);

    /* Zeroed memory, aligned for anything, that dies with the call; NULL: none left. */
    void *(*alloc)(mortise_call *call, size_t bytes);

    /* Ends a call whose run() returned MORTISE_PENDING; nothing of the call may be used
     * afterwards.  A second one is ignored and logged. */
    void (*finish)(mortise_call *call, mortise_status status);

    /* A table of functions by versioned id (mortise/services.h), or NULL when this host, or this
     * configuration, has none.  Lives as long as the plugin. */
    const void *(*service)(mortise_call *call, const char *id);
} mortise_call_ops;

/* A call: the first parameter of all that a tool does with it. */
struct mortise_call {
    uint32_t size;
    uint32_t reserved;
    const mortise_call_ops *ops;
    const mortise_tool *tool; /* the instance that is called */
};

/* ---- hooks ----------------------------------------------------------------------------- */

/*
 * A hook is asked at one of ten events of a run.  It may look, change what the event lets it
 * change (through mortise_hook_ops), and decide with its verdict.  Hooks of one event run by
 * priority, then plugin name, then position in the plugin; the first verdict that is not
 * MORTISE_CONTINUE ends the chain.  A verdict that an event does not know ends the run with
 * an error that names the hook: a hook that fails never lets anything through.
 *
 * Items are JSON text in a neutral form:
 *   {"type":"message","role":"user|assistant|system","content":[{"type":"input_text|output_text|refusal","text":"…"}]}
 *   {"type":"function_call","call_id":"…","name":"…","arguments":"{…}"}
 *   {"type":"function_call_output","call_id":"…","output":"…","is_error":false}
 *   {"type":"reasoning","text":"…"}
 * A result with attachments has a member "parts" that tells what they are, without their bytes:
 *   [{"index":0,"mime_type":"…","name":"…","bytes":12345},{"index":1,"mime_type":"…","uri":"…"}]
 */
typedef uint32_t mortise_verdict;
enum {
    MORTISE_CONTINUE      = 0, /* go on; at turn_end: the run is finished */
    MORTISE_SKIP          = 1, /* pre_tool_call: do not run it; the model is told so */
    MORTISE_RESPOND       = 2, /* pre_tool_call: respond() has given the result */
    MORTISE_ABORT         = 3, /* end the run, with reason() (everywhere but on_abort) */
    MORTISE_PAUSE         = 4, /* pre_tool_call, turn_end, stream events: stop, to be resumed */
    MORTISE_CONTINUE_WITH = 5, /* turn_end: go on with what append() added */
    MORTISE_HOOK_FAILED   = 6  /* the hook could not do its work, with reason() */
};

typedef struct mortise_hook mortise_hook;

/* All [hook], until the hook returns.  Those with a status return MORTISE_DENIED at an event that
 * does not allow it, MORTISE_NOT_FOUND for an index beyond the last item, MORTISE_INVALID for what
 * cannot be used, and MORTISE_NO_MEMORY, after which the hook counts as failed. */
typedef struct mortise_hook_ops {
    uint32_t size;
    uint32_t reserved;

    /* Why: goes with MORTISE_SKIP, ABORT, PAUSE and HOOK_FAILED.  Cut to 511 bytes. */
    void (*reason)(mortise_hook *hook, const char *text, size_t length);

    /* As in mortise_call_ops, but that context() knows nothing of a single call: it knows "model",
     * and at post_tool_call "parts", the attachments of the result as in its item (NULL: it has
     * none).  Memory lives until the hook returns. */
    const char *(*context)(mortise_hook *hook, const char *key);
    void *(*alloc)(mortise_hook *hook, size_t bytes);

    /* The items that the event is about (pre_llm_request, turn_end), oldest first.
     * item() is NULL beyond the last; the text lives until the hook returns. */
    size_t (*item_count)(mortise_hook *hook);
    const char *(*item)(mortise_hook *hook, size_t index, size_t *length);

    /* prompt_submit: the user's item, which stays a user message.  pre_llm_request: item
     * `index` of this one request; what is stored stays as it is.  The kind of an item, and the
     * call_id of a call or a result, cannot be changed; of a result's attachments those stay whose
     * "index" is in its "parts", all without that member.  MORTISE_DENIED inside the locked
     * prefix. */
    mortise_status (*set_item)(mortise_hook *hook, size_t index, const char *json, size_t length);
    /* pre_llm_request: leaves item `index` out of this one request; a call only together with
     * its result, or the hook has failed. */
    mortise_status (*remove_item)(mortise_hook *hook, size_t index);
    /* pre_llm_request, turn_end: adds a message at the end, and stores it. */
    mortise_status (*append)(mortise_hook *hook, const char *json, size_t length);

    /* pre_tool_call: what the tool will get, a JSON object. */
    mortise_status (*set_arguments)(mortise_hook *hook, const char *json, size_t length);
    /* pre_tool_call: the result that stands in for the tool's, with MORTISE_RESPOND. */
    mortise_status (*respond)(mortise_hook *hook, bool is_error, const char *text, size_t length);
    /* post_tool_call: what the model will see.  Attachments stay with the new text, unless it makes
     * an error of a success: they go with what the hook took away. */
    mortise_status (*set_result)(mortise_hook *hook, bool is_error, const char *text, size_t length);

    /* pre_tool_call, post_tool_call: the state of the tool `name` of the hook's own plugin,
     * if its state_tag equals `tag`; else NULL. */
    void *(*tool_state)(mortise_hook *hook, const char *name, const char *tag);
} mortise_hook_ops;

/* A hook that is being asked: the first parameter of all that it does. */
struct mortise_hook {
    uint32_t size;
    uint32_t reserved;
    const mortise_hook_ops *ops;
};

/* A user's prompt arrived: once per run.  ABORT: nothing is stored, no request is sent. */
typedef struct mortise_prompt_submit {
    uint32_t size;
    uint32_t reserved;
    const char *item; /* the user's message as JSON */
    size_t item_length;
} mortise_prompt_submit;

/* Before each request. */
typedef struct mortise_pre_llm_request {
    uint32_t size;
    uint32_t turn;          /* 0 for the first request of the session */
    size_t locked_prefix;   /* the first items that cannot be changed */
    const char *model;      /* "anthropic/…" */
} mortise_pre_llm_request;

/* Before each call of a batch, and before any of them starts. */
typedef struct mortise_pre_tool_call {
    uint32_t size;
    uint32_t turn;
    uint32_t index;        /* of the call in its batch */
    uint32_t count;        /* calls in the batch */
    const char *call_id;
    const mortise_tool_meta *meta; /* the host's copy: input_schema is always set, shape never */
    const char *arguments; /* a JSON object */
    size_t arguments_length;
} mortise_pre_tool_call;

/* After each call, in call order. */
typedef struct mortise_post_tool_call {
    uint32_t size;
    uint32_t turn;
    uint32_t index;
    uint32_t count;
    const char *call_id;
    const mortise_tool_meta *meta;
    const char *arguments;
    size_t arguments_length;
    const char *result;    /* the text that the model will see */
    size_t result_length;
    bool is_error;
    uint8_t reserved[7];
    const char *error_code; /* NULL when it is no error */
    int64_t duration_us;
} mortise_post_tool_call;

/* The model answered without calling a tool. */
typedef struct mortise_turn_end {
    uint32_t size;
    uint32_t turn;
} mortise_turn_end;

/* The run ends by an error or by being cancelled; only to know. */
typedef struct mortise_abort {
    uint32_t size;
    uint32_t reserved;
    const char *reason;
    size_t reason_length;
} mortise_abort;

/* Some text of the answer. */
typedef struct mortise_text_delta {
    uint32_t size;
    uint32_t index; /* of the block in the response */
    const char *text;
    size_t length;
} mortise_text_delta;

/* Some text of a call's arguments: a fragment of JSON. */
typedef struct mortise_tool_call_delta {
    uint32_t size;
    uint32_t index;
    const char *json;
    size_t length;
} mortise_tool_call_delta;

/* Any event of the stream. */
typedef struct mortise_stream_chunk {
    uint32_t size;
    uint32_t index;
    const char *event; /* "text_delta", "usage", "ping", …: the names of `--json` */
    const char *json;  /* the event as JSON */
    size_t length;
} mortise_stream_chunk;

/* A response is complete. */
typedef struct mortise_stream_complete {
    uint32_t size;
    uint32_t turn;
    uint64_t event_count;
} mortise_stream_complete;

/* NULL is a hook that is not taken. */
typedef struct mortise_hooks {
    uint32_t size;
    int32_t priority; /* lower runs first; 0 is usual */
    const char *name; /* [A-Za-z0-9_-]{1,64} */
    void *state;      /* the first parameter of each function */

    /* One for each event, which lives until the function returns.  [hook] */
    mortise_verdict (*prompt_submit)(void *state, mortise_hook *hook, const mortise_prompt_submit *event);
    mortise_verdict (*pre_llm_request)(void *state, mortise_hook *hook, const mortise_pre_llm_request *event);
    mortise_verdict (*pre_tool_call)(void *state, mortise_hook *hook, const mortise_pre_tool_call *event);
    mortise_verdict (*post_tool_call)(void *state, mortise_hook *hook, const mortise_post_tool_call *event);
    mortise_verdict (*turn_end)(void *state, mortise_hook *hook, const mortise_turn_end *event);
    mortise_verdict (*on_abort)(void *state, mortise_hook *hook, const mortise_abort *event);
    mortise_verdict (*text_delta)(void *state, mortise_hook *hook, const mortise_text_delta *event);
    mortise_verdict (*tool_call_delta)(void *state, mortise_hook *hook, const mortise_tool_call_delta *event);
    mortise_verdict (*stream_chunk)(void *state, mortise_hook *hook, const mortise_stream_chunk *event);
    mortise_verdict (*stream_complete)(void *state, mortise_hook *hook, const mortise_stream_complete *event);
} mortise_hooks;

/* ---- the plugin and the host ----------------------------------------------------------- */

typedef struct mortise_plugin mortise_plugin;
struct mortise_plugin {
    uint32_t size;
    uint32_t reserved;
    const char *name;                  /* [A-Za-z0-9_-]{1,64} */
    const char *version;               /* for people, or NULL */
    const mortise_tool *const *tools;  /* tool_count pointers */
    size_t tool_count;
    const mortise_hooks *const *hooks; /* hook_count pointers */
    size_t hook_count;

    /* Frees everything that is reachable from `self`, after the last call has ended; may be
     * NULL.  The shared object stays mapped.  [load] */
    void (*close)(mortise_plugin *self);
};

/* How much a line for the operator matters. */
enum {
    MORTISE_LOG_ERROR   = 0,
    MORTISE_LOG_WARNING = 1,
    MORTISE_LOG_NOTE    = 2,
    MORTISE_LOG_DEBUG   = 3
};

/* The host, as a plugin sees it. */
struct mortise_host {
    uint32_t size;
    uint16_t abi_major, abi_minor;

    /* Keeps a copy of the reason why tool_definition() is about to return NULL, or prepare() to
     * fail.  [load] */
    void (*refuse)(const mortise_host *host, const char *reason);

    /* One line for the operator; `level` is MORTISE_LOG_ERROR, ….  [thread-safe] */
    void (*log)(const mortise_host *host, uint32_t level, const char *message);

    /* The plugin's section of the configuration as a JSON object, "{}" when there is none.
     * Lives as long as the plugin.  [thread-safe] */
    const char *(*config)(const mortise_host *host);

    /* The same as mortise_call_ops.service, for what needs no call.  [thread-safe] */
    const void *(*service)(const mortise_host *host, const char *id);

    /* Since 1.2: tool_definition() would return something else by now, such as a tool more.  The
     * host loads the plugin anew when it next can, which is between two requests to the model:
     * tool_definition() is called with another host, and this plugin is closed once its last call
     * has ended.  If it returns NULL, or a name is taken, this plugin stays, and may ask again.
     * Asking twice before that is asking once.  Returns at once.  [thread-safe] */
    void (*changed)(const mortise_host *host);
};

/* The host lives as long as the plugin.  Returns the plugin, or NULL after refuse().  Called
 * once for each time that the plugin is loaded: a reload of the same file calls it again, with
 * another host, while calls of the earlier plugin may still run, so each time it makes a new
 * plugin.  [load] */
MORTISE_EXPORT mortise_plugin *tool_definition(const mortise_host *host);
MORTISE_EXPORT extern const mortise_stamp mortise_plugin_stamp;

#ifdef __cplusplus
}
#endif

#endif
