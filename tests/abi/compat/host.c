/*
 * The smallest host there can be: `host PLUGIN.so TOOL TEXT` loads a plugin and runs a tool that
 * takes JSON text, and prints its reply.  Built against the interface of long ago, of today and of
 * the future, to see that any plugin of the same major number works with it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/plugin.h>

static char reply_text[512];
static bool finished;

static mortise_status reply(mortise_call *call, uint32_t type, const char *text, size_t length)
{
    (void)call;
    (void)type;
    snprintf(reply_text, sizeof(reply_text), "%.*s", (int)length, text);
    return MORTISE_OK;
}

static mortise_status fail(mortise_call *call, const mortise_error *error)
{
    (void)call;
    snprintf(reply_text, sizeof(reply_text), "failed: %.*s", (int)error->message_length,
             error->message);
    return MORTISE_FAILED;
}

static const char *context(mortise_call *call, const char *key)
{
    (void)call;
    return strcmp(key, "user") == 0 ? "ada" : NULL;
}

static void *alloc(mortise_call *call, size_t bytes)
{
    static char memory[4096];
    (void)call;
    return bytes <= sizeof(memory) ? memset(memory, 0, bytes) : NULL;
}

static void finish(mortise_call *call, mortise_status status)
{
    (void)call;
    finished = status == MORTISE_OK;
}

static void refuse(const mortise_host *host, const char *reason)
{
    (void)host;
    fprintf(stderr, "refused: %s\n", reason);
}

static void log_line(const mortise_host *host, uint32_t level, const char *message)
{
    (void)host;
    (void)level;
    (void)message;
}

static const char *config(const mortise_host *host)
{
    (void)host;
    return "{}";
}

static const void *service(const mortise_host *host, const char *id)
{
    (void)host;
    (void)id;
    return NULL;
}

static const mortise_tool *find(const mortise_plugin *plugin, const char *name)
{
    for (size_t i = 0; i < plugin->tool_count; i++)
        if (strcmp(plugin->tools[i]->meta->name, name) == 0)
            return plugin->tools[i];
    return NULL;
}

static int run(const mortise_tool *tool, const char *text)
{
    static const mortise_call_ops ops = {.size = sizeof(ops),
                                         .reply = reply,
                                         .fail = fail,
                                         .context = context,
                                         .alloc = alloc,
                                         .finish = finish};
    mortise_call call = {.size = sizeof(call), .ops = &ops, .tool = tool};
    mortise_status status = tool->run(tool, &call, text);
    printf("%s status=%d finished=%d\n", reply_text, (int)status, finished);
    return status >= 0 ? 0 : 1;
}

int main(int count, char **arguments)
{
    void *object = count == 4 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const mortise_stamp *stamp = object ? dlsym(object, "mortise_plugin_stamp") : NULL;
    if (!stamp || stamp->magic != MORTISE_MAGIC || stamp->abi_major != MORTISE_ABI_MAJOR) {
        fprintf(stderr, "no plugin for this host: %s\n", object ? "its stamp" : dlerror());
        return 2;
    }
    union {
        void *object;
        mortise_plugin *(*function)(const mortise_host *host);
    } factory = {.object = dlsym(object, "tool_definition")};
    const mortise_host host = {.size = sizeof(host),
                               .abi_major = MORTISE_ABI_MAJOR,
                               .abi_minor = MORTISE_ABI_MINOR,
                               .refuse = refuse,
                               .log = log_line,
                               .config = config,
                               .service = service};
    mortise_plugin *plugin = factory.function(&host);
    const mortise_tool *tool = plugin ? find(plugin, arguments[2]) : NULL;
    int status = tool ? run(tool, arguments[3]) : 3;
    if (plugin && MORTISE_HAS(plugin, mortise_plugin, close) && plugin->close)
        plugin->close(plugin);
    return status;
}
