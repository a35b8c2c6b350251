#include "fake.h"

static void close_plugin(mortise_plugin *self)
{
    free(self);
}

struct registry *fake_registry(const mortise_tool *const *tools, const mortise_hooks *const *hooks)
{
    struct error error = ERROR_INIT;
    mortise_plugin *face = calloc(1, sizeof(*face));
    assert_non_null(face);
    *face = (mortise_plugin){.size = sizeof(*face), .name = "fake", .close = close_plugin};
    face->tools = tools;
    while (tools && tools[face->tool_count])
        face->tool_count++;
    face->hooks = hooks;
    while (hooks && hooks[face->hook_count])
        face->hook_count++;
    struct registry *registry = registry_new();
    struct plugin *plugin = plugin_new("/fake.so", face, NULL);
    assert_non_null(registry);
    assert_non_null(plugin);
    if (!registry_add(registry, plugin, &error))
        fail_msg("%s", error.message);
    return registry;
}

struct registry *fake_one(const mortise_tool *tool)
{
    static const mortise_tool *tools[2];
    tools[0] = tool;
    return fake_registry(tools, NULL);
}

void fake_call(struct registry *registry, const char *name, const char *arguments,
               struct tool_result *result)
{
    tool_call(registry, name, arguments, strlen(arguments), NULL, NULL, result);
}

void assert_answer(struct registry *registry, const char *name, const char *arguments,
                   const char *text)
{
    struct tool_result result;
    fake_call(registry, name, arguments, &result);
    assert_string_equal(text_cstr(&result.text), text);
    assert_true(result.success);
    assert_null(result.category);
    tool_result_release(&result);
}

void assert_failure(struct registry *registry, const char *name, const char *arguments,
                    const char *category, const char *text)
{
    struct tool_result result;
    fake_call(registry, name, arguments, &result);
    assert_string_equal(text_cstr(&result.text), text);
    assert_false(result.success);
    assert_string_equal(result.category, category);
    tool_result_release(&result);
}

mortise_status fake_reply(mortise_call *call, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text, (size_t)length);
}

mortise_status fake_fail(mortise_call *call, mortise_category category, const char *component,
                         const char *code, const char *message)
{
    mortise_error error = {.size = sizeof(error),
                           .category = category,
                           .component = component,
                           .code = code,
                           .message = message,
                           .message_length = strlen(message)};
    return (call->ops->fail)(call, &error); /* cmocka has a macro of that name */
}
