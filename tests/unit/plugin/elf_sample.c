/* A plugin that is only read. */
#include <string.h>

#include <mortise/plugin.h>

const mortise_stamp mortise_plugin_stamp = {MORTISE_MAGIC, MORTISE_ABI_MAJOR, MORTISE_ABI_MINOR};

mortise_plugin *tool_definition(const mortise_host *host)
{
    const char *config = host->config(host);
    host->refuse(host, strchr(config, '{') ? "it is a sample" : "it has no configuration");
    return NULL;
}
