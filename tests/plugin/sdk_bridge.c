/* Tools that a plugin makes while it is loaded (F10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_fakes.h"
#include "unit/base/failing.h"

/* One tool on the other side of the bridge. */
struct remote {
    char name[16];
    int *released;
};

static int opened, closed, released, released_before_close;
static bool nameless;

MORTISE_TOOL(bridge_status, MORTISE_READ_ONLY, "Tell whether the bridge stands.", MORTISE_NO_ARGS);

static mortise_status bridge_status(mortise_call *call, const bridge_status_args *args)
{
    (void)args;
    return mortise_reply(call, "%s", (const char *)mortise_state(call));
}

static mortise_status run_remote(mortise_call *call, const char *json, void *data)
{
    const struct remote *remote = data;
    int64_t n = 0;
    if (mortise_json_integer(json, "n", &n) == MORTISE_INVALID)
        return mortise_fail(call, "'n' is no whole number");
    return mortise_reply(call, "%s %s %d", (const char *)mortise_state(call), remote->name, (int)n);
}

static void release_remote(void *data)
{
    struct remote *remote = data;
    ++*remote->released;
    free(remote);
}

static struct remote *find_remote(int index)
{
    struct remote *remote = calloc(1, sizeof(*remote));
    if (remote) {
        snprintf(remote->name, sizeof(remote->name), "remote_%d", index);
        remote->released = &released;
    }
    return remote;
}

static void *bridge_open(const mortise_host *host)
{
    (void)host;
    static char name[] = "bridge";
    opened++;
    return name;
}

static void bridge_add(void *state, mortise_tool_list *list)
{
    assert_string_equal(state, "bridge");
    for (int i = 0; i < 3; i++) {
        /* texts that are gone when this function has returned */
        char name[16], description[32], scope[8] = "net", example[16];
        const char *scopes[] = {scope, "disk", NULL}, *examples[] = {example, NULL};
        struct remote *remote = find_remote(i);
        if (!remote)
            return;
        snprintf(name, sizeof(name), "%s", remote->name);
        snprintf(description, sizeof(description), "Tool number %d.", i);
        snprintf(example, sizeof(example), "{\"n\":%d}", i);
        mortise_new_tool tool = {
            .name = nameless && i == 1 ? NULL : name,
            .description = description,
            .flags = i == 0 ? MORTISE_READ_ONLY : 0,
            .input_schema = i == 2 ? NULL : "{\"type\":\"object\"}",
            .title = "Remote",
            .scopes = i == 0 ? scopes : NULL,
            .examples = i == 0 ? examples : NULL,
            .run = run_remote,
            .data = remote,
            .release = release_remote,
        };
        mortise_add_tool(list, &tool);
        memset(name, 'x', sizeof(name));
        memset(description, 'x', sizeof(description));
        memset(scope, 'x', sizeof(scope));
    }
}

static void bridge_close(void *state)
{
    (void)state;
    released_before_close = released;
    closed++;
}

MORTISE_PLUGIN(.name = "bridge", .tools = MORTISE_TOOLS(bridge_status), .open = bridge_open,
               .add = bridge_add, .close = bridge_close, .state_tag = "bridge/1");

static int reset(void **state)
{
    (void)state;
    opened = closed = released = released_before_close = 0;
    nameless = false;
    fake_reset();
    return 0;
}

/* F10: name, description, flags, schema, function and data, beside tools that were declared. */
static void adds_tools_while_loading(void **state)
{
    (void)state;
    mortise_plugin *plugin = tool_definition(&fake_host);
    assert_non_null(plugin);
    assert_int_equal(plugin->tool_count, 4);
    assert_string_equal(plugin->tools[0]->meta->name, "bridge_status");
    const mortise_tool_meta *first = plugin->tools[1]->meta, *last = plugin->tools[3]->meta;
    assert_string_equal(first->name, "remote_0");
    assert_string_equal(first->description, "Tool number 0.");
    assert_int_equal(first->flags, MORTISE_READ_ONLY);
    assert_string_equal(first->input_schema, "{\"type\":\"object\"}");
    assert_string_equal(first->title, "Remote");
    assert_string_equal(first->scopes[0], "net");
    assert_string_equal(first->scopes[1], "disk");
    assert_null(first->scopes[2]);
    assert_string_equal(first->examples[0], "{\"n\":0}");
    assert_null(first->examples[1]);
    assert_null(first->shape);
    assert_string_equal(last->name, "remote_2");
    assert_null(last->input_schema);
    assert_null(last->scopes);
    assert_string_equal(plugin->tools[3]->state_tag, "bridge/1");

    for (int i = 0; i < 3; i++) {
        char expected[32];
        const mortise_tool *tool = plugin->tools[1 + i];
        mortise_call call = {.size = sizeof(call), .ops = &fake_call_ops, .tool = tool};
        snprintf(expected, sizeof(expected), "bridge remote_%d 7", i);
        assert_int_equal(tool->run(tool, &call, "{\"n\":7}"), MORTISE_OK);
        assert_string_equal(fake.text, expected);
    }
    assert_int_equal(released, 0);
    plugin->close(plugin);
    assert_int_equal(released_before_close, 3);
    assert_int_equal(released, 3);
    assert_int_equal(closed, 1);
}

/* A plugin that has nothing but what it makes. */
static void needs_no_declared_tools(void **state)
{
    (void)state;
    static const mortise_plugin_parts parts = {
        .name = "bare", .open = bridge_open, .add = bridge_add};
    mortise_plugin *plugin = mortise_open_plugin(&fake_host, &parts);
    assert_int_equal(plugin->tool_count, 3);
    plugin->close(plugin);
    assert_int_equal(released, 3);
}

static void refuses_a_tool_without_a_name(void **state)
{
    (void)state;
    nameless = true;
    assert_null(tool_definition(&fake_host));
    assert_string_equal(fake.text, "it made a tool without a name or a function");
    assert_int_equal(released, 3);
    assert_int_equal(closed, 1);
}

/* The n-th allocation fails: a reason, everything released once, and no plugin. */
static void survives_without_memory(void **state)
{
    int n = 0;
    for (;; n++) {
        reset(state);
        fail_after(n);
        mortise_plugin *plugin = tool_definition(&fake_host);
        bool failed = fail_never();
        if (plugin)
            plugin->close(plugin);
        else
            assert_string_equal(fake.text, "out of memory");
        assert_int_equal(opened, closed);
        if (!failed)
            break;
    }
    assert_int_equal(released, 3);
    assert_int_equal(n, 7); /* a remote and a tool, three times, and the plugin */
}

static void *refuse_to_open(const mortise_host *host)
{
    return mortise_refuse(host, "no luck");
}

/* The same for the plugin in the place of a guard. */
static void a_guard_survives_without_memory(void **state)
{
    static const mortise_plugin_parts guard = {
        .name = "guard", .open = refuse_to_open, .close = bridge_close, .guard = true};
    bool failed = true;
    for (int n = 0; failed; n++) {
        reset(state);
        fail_after(n);
        mortise_plugin *plugin = mortise_open_plugin(&fake_host, &guard);
        failed = fail_never();
        if (plugin)
            plugin->close(plugin);
        assert_true(plugin || failed);
        assert_int_equal(closed, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(adds_tools_while_loading, reset),
        cmocka_unit_test_setup(needs_no_declared_tools, reset),
        cmocka_unit_test_setup(refuses_a_tool_without_a_name, reset),
        cmocka_unit_test_setup(survives_without_memory, reset),
        cmocka_unit_test_setup(a_guard_survives_without_memory, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
