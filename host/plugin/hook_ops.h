/*
 * hook_ops - one hook that is being asked: the `mortise_hook` that it sees.
 *
 * hooks.c fills in what the event lets a hook work on; what is NULL is denied.  Changes are
 * carried out at once; which kinds there were is kept in `changes`, so that they can be told
 * once the hook has returned.  Lives on the stack of one question.
 */
#ifndef PLUGIN_HOOK_OPS_H
#define PLUGIN_HOOK_OPS_H

#include "base/arena.h"
#include "plugin/hooks.h"

/* bit, "decision" of the EVENT_HOOK that tells of it */
#define HOOK_CHANGES(X)                                                                            \
    X(ITEM, "change_item")                                                                         \
    X(REMOVAL, "remove_item")                                                                      \
    X(ADDITION, "append")                                                                          \
    X(ARGUMENTS, "change_arguments")                                                               \
    X(RESULT, "change_result")

enum hook_change {
#define X(name, text) CHANGE_##name,
    HOOK_CHANGES(X)
#undef X
        CHANGE_COUNT
};

struct asked_hook {
    mortise_hook face; /* first: a plugin hands its address back */
    const struct hook_setting *setting;
    const struct hook *hook;
    enum hook_event event;
    struct arena memory;

    /* What the event is about. */
    struct item **prompt;        /* prompt_submit */
    struct item_list *items;     /* pre_llm_request: may be edited … */
    size_t locked_prefix;        /* … behind these */
    struct item *const *history; /* pre_llm_request and turn_end: may be read */
    size_t history_count;
    struct item_list *appended;  /* pre_llm_request, turn_end */
    struct hook_tool_call *call; /* pre_tool_call, post_tool_call */

    /* What the hook did. */
    char reason[sizeof(((struct hook_outcome *)0)->reason)];
    unsigned changes; /* bits 1 << enum hook_change */
    bool responded;
    bool no_memory;               /* a change could not be made */
    struct removed_pair *removed; /* calls and results that it took out */
};

/* Nothing to work on yet: the caller sets it. */
void asked_hook_init(struct asked_hook *asked, const struct hook_setting *setting,
                     const struct hook *hook, enum hook_event event);
void asked_hook_release(struct asked_hook *asked);

/* An item as JSON, in the hook's memory; NULL: no memory (noted). */
const char *asked_hook_item(struct asked_hook *asked, const struct item *item, size_t *length);

/* The id of a call that the hook left without its result, or the other way round; NULL:
 * none (D18). */
const char *asked_hook_unpaired(const struct asked_hook *asked);

#endif
