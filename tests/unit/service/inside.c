#include "inside.h"

#include <sys/stat.h>

/* What the tool does, and how it ended.  tool_call() runs it on the thread that calls. */
static _Thread_local struct {
    inside_body *body;
    void *data;
    mortise_status status;
} now;

static mortise_status run(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)args;
    now.status = now.body(call, now.data);
    return now.status == MORTISE_OK ? MORTISE_OK : MORTISE_FAILED;
}

static const mortise_tool_meta alpha_meta = {
    .size = sizeof(alpha_meta), .name = "alpha", .input_schema = "{\"type\":\"object\"}"};
static const mortise_tool_meta beta_meta = {
    .size = sizeof(beta_meta), .name = "beta", .input_schema = "{\"type\":\"object\"}"};
static const mortise_tool alpha_tool = {
    .size = sizeof(alpha_tool), .meta = &alpha_meta, .run = run};
static const mortise_tool beta_tool = {.size = sizeof(beta_tool), .meta = &beta_meta, .run = run};
static const mortise_tool *const alpha_tools[] = {&alpha_tool}, *const beta_tools[] = {&beta_tool};
static mortise_plugin alpha = {
    .size = sizeof(alpha), .name = "alpha", .tools = alpha_tools, .tool_count = 1};
static mortise_plugin beta = {
    .size = sizeof(beta), .name = "beta", .tools = beta_tools, .tool_count = 1};

static void add(struct inside *inside, mortise_plugin *face)
{
    struct error error = ERROR_INIT;
    char path[32];
    snprintf(path, sizeof(path), "/%s.so", face->name);
    struct host_api *api = host_api_new(face->name, strdup("{}"), services_face(inside->services));
    struct plugin *plugin = plugin_new(path, face, api);
    if (!registry_add(inside->registry, plugin, &error))
        fail_msg("%s", error.message);
}

static void open_services(struct inside *inside, const char *grants)
{
    const struct services_settings settings = {
        .artifacts = inside->artifacts, .database = inside->database, .grants = grants};
    inside->services = services_new(&settings);
    inside->registry = registry_new();
    assert_non_null(inside->services);
    assert_non_null(inside->registry);
    add(inside, &alpha);
    add(inside, &beta);
}

static void close_services(struct inside *inside)
{
    registry_unref(inside->registry);
    services_unref(inside->services);
}

void inside_open(struct inside *inside, const char *grants)
{
    *inside = (struct inside){.folder = "/tmp/services.XXXXXX",
                              .plugin = "alpha",
                              .context = {.user = "ada", .agent = "mortise"}};
    assert_non_null(mkdtemp(inside->folder));
    snprintf(inside->artifacts, sizeof(inside->artifacts), "%s/state/artifacts", inside->folder);
    snprintf(inside->database, sizeof(inside->database), "%s/state/data.db", inside->folder);
    open_services(inside, grants);
}

void inside_reopen(struct inside *inside)
{
    close_services(inside);
    open_services(inside, NULL);
}

void inside_close(struct inside *inside)
{
    char command[96];
    close_services(inside);
    snprintf(command, sizeof(command), "rm -r '%s'", inside->folder);
    assert_int_equal(system(command), 0);
}

mortise_status inside_call(struct inside *inside, inside_body *body, void *data)
{
    struct tool_result result;
    now.body = body;
    now.data = data;
    now.status = -100; /* nothing says so */
    tool_call(inside->registry, inside->plugin, NULL, 0, &inside->context, inside->cancel, &result);
    snprintf(inside->said, sizeof(inside->said), "%s", text_cstr(&result.text));
    snprintf(inside->category, sizeof(inside->category), "%s",
             result.category ? result.category : "");
    tool_result_release(&result);
    return now.status;
}

const mortise_host *inside_host(const struct inside *inside, const char *plugin)
{
    return host_api_face(registry_find(inside->registry, plugin)->plugin->api);
}
