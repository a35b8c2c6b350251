/*
 * plugin_test - runs one plugin, as it was built, through the host's own loader and calls.
 *
 * PLUGIN_FILE is the shared object, set by the build.  Include after <cmocka.h>.
 */
#ifndef SUPPORT_PLUGIN_TEST_H
#define SUPPORT_PLUGIN_TEST_H

#include <stdlib.h>
#include <string.h>

#include "plugin/hooks.h"
#include "plugin/loader.h"
#include "tool/call.h"

static char *plugin_test_config(void *json, const char *plugin)
{
    (void)plugin;
    return strdup(json);
}

/* Loads PLUGIN_FILE with this section of configuration; fails the test if it is refused. */
static inline struct registry *plugin_test_load(const char *config)
{
    char json[1024];
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    assert_non_null(registry);
    snprintf(json, sizeof(json), "%s", config);
    struct loader loader = {
        .registry = registry, .config = plugin_test_config, .config_context = json};
    if (!loader_load(&loader, PLUGIN_FILE, &error))
        fail_msg("%s", error.message);
    return registry;
}

/* Checks that PLUGIN_FILE is not loaded with this configuration, and why. */
static inline void plugin_test_refused(const char *config, const char *why)
{
    char json[1024];
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    snprintf(json, sizeof(json), "%s", config);
    struct loader loader = {
        .registry = registry, .config = plugin_test_config, .config_context = json};
    if (loader_load(&loader, PLUGIN_FILE, &error))
        fail_msg("it was loaded with %s", config);
    if (!strstr(error.message, why))
        fail_msg("'%s' has no '%s'", error.message, why);
    registry_unref(registry);
}

/* Checks that a guard lets no run begin with this configuration, and why. */
static inline void plugin_test_closed(const char *config, const char *why)
{
    struct timeline nobody = {0};
    struct hook_outcome outcome = {0};
    struct registry *registry = plugin_test_load(config);
    struct hook_setting setting = {.registry = registry, .timeline = &nobody};
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, "hi", 2);
    hooks_prompt_submit(&setting, &item, &outcome);
    item_unref(item);
    registry_unref(registry);
    if (!outcome.failed || !strstr(outcome.reason, why))
        fail_msg("with %s: '%s' has no '%s'", config, outcome.reason, why);
}

/* Calls a tool with JSON text and checks that it succeeds, or fails, with this text. */
static inline void plugin_test_call(struct registry *registry, const char *tool, const char *json,
                                    bool success, const char *expected)
{
    struct tool_result result = {0};
    const struct call_context context = {.session = "s-1"};
    tool_call(registry, tool, json, strlen(json), &context, NULL, &result);
    assert_string_equal(text_cstr(&result.text), expected);
    assert_int_equal(result.success, success);
    tool_result_release(&result);
}

#endif
