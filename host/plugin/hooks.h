/*
 * hooks - asks the hooks of one event, in order, and carries out what they change.
 *
 * The thread of the turn loop only.  Each function asks every hook that takes the event
 * until one gives another verdict than MORTISE_CONTINUE.  A verdict that the event does
 * not know, and MORTISE_HOOK_FAILED, are failures: hook_outcome.failed, with the reason.
 * Where nothing is decided that matters for safety (turn end, abort, stream events) the
 * configuration of a plugin can have its failures logged and passed over (D26).
 * Each decision other than "continue", and each change, is an EVENT_HOOK on the timeline.
 */
#ifndef PLUGIN_HOOKS_H
#define PLUGIN_HOOKS_H

#include "conversation/item.h"
#include "plugin/registry.h"
#include "timeline/timeline.h"

/* One thing that a hook changed, as it told it with mortise_hook_ops. */
struct hook_edit {
    const char *what; /* "set_item", "remove_item", "append", "set_arguments", "respond", … */
    size_t index;     /* of set_item and remove_item */
    bool is_error;    /* of respond and set_result */
    struct slice text;
};

/* Who is told of every answer of a hook, so that it can be written down (host/record). */
struct hook_tape {
    void (*edited)(void *self, const struct hook_edit *edit);
    /* Then, also when nothing was edited: "continue", "skip", …; `reason` is never NULL. */
    void (*answered)(void *self, const struct hook *hook, const char *event, const char *verdict,
                     const char *reason);
    void *self;
};

/* What all events of a run share. */
struct hook_setting {
    const struct registry *registry;
    struct timeline *timeline;
    /* mortise_hook_ops.context(): borrowed, or in `memory`, which is the asked hook's.  NULL
     * function: nothing is known. */
    const char *(*context)(void *data, const char *key, struct arena *memory);
    void *context_data;
    const struct hook_tape *tape; /* or NULL */
};

struct hook_outcome {
    mortise_verdict verdict; /* one that the event knows, or MORTISE_HOOK_FAILED */
    bool failed;             /* MORTISE_HOOK_FAILED: the hook said so, gave a verdict that the
                              * event does not know, or memory ran out */
    const struct hook *hook; /* who decided; NULL: nobody */
    const char *event;       /* "PreToolCall", …: where */
    char reason[512];        /* "" when none was given */
};

/* A list of items that an event works on.  Owns its references. */
struct item_list {
    struct item **items;
    size_t count;
    size_t capacity;
};
void item_list_release(struct item_list *list);
bool item_list_add(struct item_list *list, struct item *item); /* takes over the reference */

/* *item may be replaced. */
void hooks_prompt_submit(const struct hook_setting *setting, struct item **item,
                         struct hook_outcome *outcome);

/* `items` is the list of this request, which hooks may edit behind `locked_prefix`;
 * `appended` gets what shall be stored as well (it is added to `items` too).  A hook may not
 * leave a call without its result, or a result without its call (D18). */
void hooks_pre_llm_request(const struct hook_setting *setting, struct item_list *items,
                           size_t locked_prefix, unsigned turn, const char *model,
                           struct item_list *appended, struct hook_outcome *outcome);

/* A call as the tool hooks see it. */
struct hook_tool_call {
    const struct tool *tool;
    const char *call_id;
    unsigned turn, index, count;
    struct bytes arguments; /* malloc'ed; hooks may replace it */
    /* pre_tool_call with MORTISE_RESPOND, and post_tool_call: malloc'ed, may be replaced */
    struct bytes result;
    bool is_error;
    bool is_edited;         /* post_tool_call: the result is what a hook wrote */
    const char *error_code; /* post_tool_call */
    int64_t duration_us;    /* post_tool_call */
    /* post_tool_call: borrowed; the count becomes 0 when a hook makes an error of a success */
    const struct attachment *attachments;
    size_t attachment_count;
};
void hooks_pre_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                         struct hook_outcome *outcome);
void hooks_post_tool_call(const struct hook_setting *setting, struct hook_tool_call *call,
                          struct hook_outcome *outcome);

/* `items` is the whole history to look at; `appended` gets what to go on with, or only to
 * store when the verdict is another than MORTISE_CONTINUE_WITH. */
void hooks_turn_end(const struct hook_setting *setting, struct item *const *items, size_t count,
                    unsigned turn, struct item_list *appended, struct hook_outcome *outcome);

/* Asks every hook; an outcome that fails is logged and replaces nothing (W60). */
void hooks_abort(const struct hook_setting *setting, const char *reason);

/* OnStreamChunk with any event of a response, then OnTextDelta or OnToolCallDelta (W25). */
void hooks_stream(const struct hook_setting *setting, const struct event *event,
                  struct hook_outcome *outcome);
void hooks_stream_complete(const struct hook_setting *setting, unsigned turn, uint64_t event_count,
                           struct hook_outcome *outcome);

#define HOOK_EVENTS(X)                                                                             \
    X(prompt_submit, "OnPromptSubmit")                                                             \
    X(pre_llm_request, "PreLlmRequest")                                                            \
    X(pre_tool_call, "PreToolCall")                                                                \
    X(post_tool_call, "PostToolCall")                                                              \
    X(turn_end, "OnTurnEnd")                                                                       \
    X(on_abort, "OnAbort")                                                                         \
    X(text_delta, "OnTextDelta")                                                                   \
    X(tool_call_delta, "OnToolCallDelta")                                                          \
    X(stream_chunk, "OnStreamChunk")                                                               \
    X(stream_complete, "OnStreamComplete")

enum hook_event {
#define X(member, name) HOOK_##member,
    HOOK_EVENTS(X)
#undef X
        HOOK_EVENT_COUNT
};
const char *hook_event_name(enum hook_event event); /* "PreToolCall" */
/* MORTISE_CONTINUE to MORTISE_HOOK_FAILED: "continue", …, "failed"; NULL: there is no other. */
const char *hook_verdict_name(mortise_verdict verdict);
bool hook_takes(const struct hook *hook, enum hook_event event);
/* Whether any hook takes the event: if none does, nothing has to be prepared for it. */
bool hooks_take(const struct registry *registry, enum hook_event event);

#endif
