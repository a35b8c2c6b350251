/*
 * mortise/test.h - test a plugin without the host.
 *
 *     #include <mortise/test.h>
 *     #include "greet.c"
 *
 *     int main(void)
 *     {
 *         mortise_test *test = mortise_test_open(NULL);
 *         const mortise_test_result *result =
 *             mortise_test_run(test, &greet_tool, &(greet_args){.name = "Ada"});
 *         mortise_test_text(result, "Hello, Ada!");
 *         return mortise_test_close(test);
 *     }
 *
 * The program is linked with the libraries mortise_test and mortise_sdk.  It includes the plugin's
 * source, or is linked with it; one plugin per program.  A check that fails prints where, what was
 * expected and what came, and the program goes on; mortise_test_close() returns what main()
 * returns.  What a plugin does that the host would not forgive fails as well: a call that is
 * finished twice, or never, or used after its end, a reply that is no JSON, a verdict that an event
 * does not know, a name that is none or is there twice.
 *
 * A tool gets its arguments as it would from the host: the struct of a typed tool, JSON text for a
 * raw one.  The host's part is not done here: reading and checking what a model sends, fallbacks,
 * scopes, MORTISE_SERIAL, limits of progress and results.  `mortise tools call` does it all.
 *
 * A tool that is marked MORTISE_SANDBOX_REQUIRED runs as the host has it run, but without the sandbox:
 * its prepare() is called here, once and before the first call, and each call runs in a process that
 * is copied from this one, in an empty folder, with PATH, LANG, HOME and TMPDIR alone.  What it changes
 * in memory is gone with it, in the services too; a signal that kills it is a failure of the call.
 * Such a test starts no thread of its own before the call.
 *
 * What these functions return lives until mortise_test_close().  mortise_test_run() and the checks
 * are [thread-safe]; all else belongs to one thread.
 */
#ifndef MORTISE_TEST_H
#define MORTISE_TEST_H

#include <mortise/plugin.h>
#include <mortise/services.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plugin that is open. */
typedef struct mortise_test mortise_test;

/* ---- opening and closing -------------------------------------------------------------------- */

/* Services that live in memory until mortise_test_close(). */
enum {
    MORTISE_TEST_ARTIFACTS = 1u << 0,
    MORTISE_TEST_MEMORY    = 1u << 1,
    MORTISE_TEST_STATE     = 1u << 2
};

/* What is zero is absent. */
typedef struct mortise_test_setup {
    const char *config;         /* the plugin's section of the configuration; NULL: {} */
    const char *caller;         /* "agent" and "app"; NULL: "test" */
    uint32_t services;          /* MORTISE_TEST_ARTIFACTS | … */
    const char *const *secrets; /* {"NAME", "value", "NAME", "value", NULL} */
    /* Answers requests in the network's place, also those of fetch(), on the thread that asks.  What
     * it puts into *response is copied; without a status it is 200, and a `problem` is why it fails.
     * answered() and received() are called with it.  Time limits and MORTISE_HTTP_PUBLIC_ONLY are
     * for the callback to look at. */
    mortise_status (*http)(void *data, const mortise_http_request *request,
                           mortise_http_response *response);
    void *http_data;
} mortise_test_setup;

/* Calls the plugin's tool_definition().  Never NULL: a plugin that refuses is a failure, and
 * its calls fail. */
mortise_test *mortise_test_open(const char *config);
mortise_test *mortise_test_open_with(const mortise_test_setup *setup);
/* Closes the plugin, then looks for misuse.  Returns the exit status: 0 if nothing has failed in
 * this program so far. */
int mortise_test_close(mortise_test *test);
/* The same without closing anything, for a program that opens its plugin several times. */
int mortise_test_status(void);
/* The lines of mortise_log() so far, such as "warning: …\n". */
const char *mortise_test_log(mortise_test *test);
/* How often the plugin asked to be loaded anew (mortise_changed()).  It is not: the next
 * mortise_test_open() does that. */
unsigned mortise_test_changes(mortise_test *test);

/* ---- one call -------------------------------------------------------------------------------- */

/* A chunk of mortise_emit(), or with a NULL stream a step of mortise_progress(). */
typedef struct mortise_test_progress {
    const char *stream;
    const char *text; /* or the message; never NULL */
    size_t length;
    double done, total;
} mortise_test_progress;

/* How a call ended. */
typedef struct mortise_test_result {
    mortise_status status; /* what run() returned, or finish() said; never MORTISE_PENDING */
    bool is_json;
    const char *text; /* the last reply, with a NUL behind it; "": none */
    size_t length;
    /* of a failure: what fail() said, or what the status stands for */
    mortise_category category;
    const char *component; /* "tool" unless said otherwise */
    const char *code;      /* "tool.error" unless said otherwise */
    const char *message;   /* "": none */
    int64_t retry_after_ms;
    const mortise_attachment *attachments;
    size_t attachment_count;
    const mortise_test_progress *progress;
    size_t progress_count;
    const char *call, *invocation; /* the ids that the tool saw */
} mortise_test_result;

/* Runs a tool of the plugin, as it was declared (&greet_tool) or made while loading
 * (mortise_test_tool()), and waits until it is finished.  ARGS is the struct or the JSON text;
 * NULL: a struct of zeros, or "{}". */
#define mortise_test_run(test, tool, ...)                                                          \
    mortise__test_run(test, __FILE__, __LINE__, tool, __VA_ARGS__)

/* The tool of that name, by which the plugin made it; NULL and a failure: there is none. */
const mortise_tool *mortise_test_tool(mortise_test *test, const char *name);

/* What the tools and hooks see of a key from now on; NULL: it is not known.  At first "user" is
 * "anonymous", "agent" and "app" are the caller, each call has ids "call" and "invocation" of its
 * own, "batch_index" is "0" and "batch_size" "1"; nothing else is known.  All hooks are asked in
 * one run, until "invocation" is set. */
void mortise_test_context(mortise_test *test, const char *key, const char *value);

/* The next call is cancelled after so many milliseconds; 0: before it begins.  (The host does not
 * even enter a tool that was cancelled before; here it is told at once.) */
void mortise_test_cancel(mortise_test *test, int64_t after_ms);
/* The next call has so much time, and is cancelled when it is over. */
void mortise_test_deadline(mortise_test *test, int64_t ms);
/* How long mortise_finish() is waited for: 10 s, unless set. */
void mortise_test_patience(mortise_test *test, int64_t ms);

/* ---- one hook -------------------------------------------------------------------------------- */

typedef struct mortise_test_decision {
    mortise_verdict verdict;
    const char *reason; /* "": none */
    /* prompt_submit, pre_llm_request, turn_end: the items as the hook left them */
    const char *const *items;
    size_t item_count;
    /* pre_llm_request, turn_end: what it added (for pre_llm_request also the last of the items) */
    const char *const *appended;
    size_t appended_count;
    const char *arguments; /* pre_tool_call: what the tool gets */
    /* post_tool_call: what the model sees; pre_tool_call: what respond() said, or NULL */
    const char *result;
    size_t result_length;
    bool is_error;
} mortise_test_decision;

/* Asks a set of hooks of the plugin at one event, whose members follow:
 *     mortise_test_hook(test, &guard_hooks, pre_tool_call, .meta = &rm_meta, .arguments = "{}")
 * Filled in when left out: lengths of texts that end with NUL, ids, `count`, `model`, arguments
 * ("{}") and a tool called "tool". */
#define mortise_test_hook(test, hooks, event, ...)                                                 \
    mortise__test_hook(test, __FILE__, __LINE__, hooks, MORTISE__TEST_AT_##event,                  \
                       &(MORTISE__TEST_TYPE_##event){                                              \
                           .size = sizeof(MORTISE__TEST_TYPE_##event), __VA_ARGS__})

/* The items of the next event, as JSON; they are copied. */
void mortise_test_items(mortise_test *test, const char *const *items, size_t count);

/* Whether the plugin takes these hooks, after its `.wants`. */
bool mortise_test_has_hooks(mortise_test *test, const mortise_hooks *hooks);

/* ---- checks: true if it is so; a failure otherwise ------------------------------------------- */

/* The call succeeded with this text, or this JSON text to the byte. */
#define mortise_test_text(result, expected)                                                        \
    mortise__test_reply(__FILE__, __LINE__, result, false, expected)
#define mortise_test_json(result, expected)                                                        \
    mortise__test_reply(__FILE__, __LINE__, result, true, expected)
/* It failed with this category, and `part` is in its message. */
#define mortise_test_error(result, category, part)                                                 \
    mortise__test_error(__FILE__, __LINE__, result, category, part)
/* The verdict, and `part` is in the reason. */
#define mortise_test_verdict(decision, verdict, part)                                              \
    mortise__test_verdict(__FILE__, __LINE__, decision, verdict, part)
/* The plugin is not loaded with this configuration, or as a guard lets no run begin, for a reason
 * that has `part` in it. */
#define mortise_test_refused(config, part) mortise__test_refused(__FILE__, __LINE__, config, part)
/* Two texts are the same; both may be NULL. */
#define mortise_test_same(came, expected) mortise__test_same(__FILE__, __LINE__, came, expected)
#define mortise_test_contains(text, part) mortise__test_contains(__FILE__, __LINE__, text, part)
#define mortise_test_true(condition)                                                               \
    mortise__test_true(__FILE__, __LINE__, #condition, condition)

/* ---- behind the macros ----------------------------------------------------------------------- */

const mortise_test_result *mortise__test_run(mortise_test *test, const char *file, int line,
                                             const mortise_tool *tool, const void *args);
const mortise_test_decision *mortise__test_hook(mortise_test *test, const char *file, int line,
                                                const mortise_hooks *hooks, int at,
                                                const void *event);
bool mortise__test_reply(const char *file, int line, const mortise_test_result *result,
                         bool is_json, const char *expected);
bool mortise__test_error(const char *file, int line, const mortise_test_result *result,
                         mortise_category category, const char *part);
bool mortise__test_verdict(const char *file, int line, const mortise_test_decision *decision,
                           mortise_verdict verdict, const char *part);
bool mortise__test_refused(const char *file, int line, const char *config, const char *part);
bool mortise__test_same(const char *file, int line, const char *came, const char *expected);
bool mortise__test_contains(const char *file, int line, const char *text, const char *part);
bool mortise__test_true(const char *file, int line, const char *text, bool holds);

enum {
    MORTISE__TEST_AT_prompt_submit,
    MORTISE__TEST_AT_pre_llm_request,
    MORTISE__TEST_AT_pre_tool_call,
    MORTISE__TEST_AT_post_tool_call,
    MORTISE__TEST_AT_turn_end,
    MORTISE__TEST_AT_on_abort,
    MORTISE__TEST_AT_text_delta,
    MORTISE__TEST_AT_tool_call_delta,
    MORTISE__TEST_AT_stream_chunk,
    MORTISE__TEST_AT_stream_complete
};
#define MORTISE__TEST_TYPE_prompt_submit   mortise_prompt_submit
#define MORTISE__TEST_TYPE_pre_llm_request mortise_pre_llm_request
#define MORTISE__TEST_TYPE_pre_tool_call   mortise_pre_tool_call
#define MORTISE__TEST_TYPE_post_tool_call  mortise_post_tool_call
#define MORTISE__TEST_TYPE_turn_end        mortise_turn_end
#define MORTISE__TEST_TYPE_on_abort        mortise_abort
#define MORTISE__TEST_TYPE_text_delta      mortise_text_delta
#define MORTISE__TEST_TYPE_tool_call_delta mortise_tool_call_delta
#define MORTISE__TEST_TYPE_stream_chunk    mortise_stream_chunk
#define MORTISE__TEST_TYPE_stream_complete mortise_stream_complete

#ifdef __cplusplus
}
#endif

#endif
