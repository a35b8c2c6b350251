/*
 * plugin_test - runs one plugin, as it was built, through the host's own loader and calls.
 *
 * PLUGIN_FILE is the shared object, set by the build.  Include after <cmocka.h>.
 */
#ifndef SUPPORT_PLUGIN_TEST_H
#define SUPPORT_PLUGIN_TEST_H

#include <stdlib.h>
#include <string.h>

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
