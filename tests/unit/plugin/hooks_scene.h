/*
 * hooks_scene - a registry with four hooks, h0 to h3, which do what the test says at each event of
 * a run, and a second plugin that has none.
 */
#ifndef TEST_HOOKS_SCENE_H
#define TEST_HOOKS_SCENE_H

#include "cmocka_all.h"
#include "sample.h"

#include "plugin/hooks.h"

#define TOLD_BYTES 1024

/* What one hook does when it is asked: `act` works, then `verdict` is returned. */
struct script {
    void (*act)(mortise_hook *hook, const void *event);
    mortise_verdict verdict;
    int asked;
};

extern struct script scripts[4];
extern struct sample sample; /* the plugin with the hooks, and with the tool "count" */
extern int secret;           /* its tool's state, tagged "counter" */
extern struct registry *registry;
extern char told[TOLD_BYTES]; /* what the timeline was told of hooks, a line each */
extern struct hook_setting setting;
extern struct hook_outcome outcome; /* of the last event */

/* Before and after each test. */
int hooks_scene_start(void **state);
int hooks_scene_end(void **state);

/* ---- what came of it ---- */

void went_on(void);
void decided(mortise_verdict verdict, const char *hook, const char *reason);
void has_json(const struct item *item, const char *wanted);

/* ---- what hooks do ---- */

#define USER(text)                                                                                 \
    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"      \
    "\"" text "\"}]}"

void give_reason(mortise_hook *hook, const void *event);
mortise_status set_item(mortise_hook *hook, size_t index, const char *json);
mortise_status append(mortise_hook *hook, const char *json);

/* ---- events ---- */

extern struct item *prompt;
void submit(void);

extern struct hook_tool_call call;
void pre_call(void);
void post_call_with(const struct attachment *attachments, size_t count);
void post_call(void);
void free_call(void);

extern struct item_list items, appended; /* a user's message, a call, its result, another message */
void fill_items(void);
void pre_request(size_t locked);
void turn_end(void);
void free_items(void);

#endif
