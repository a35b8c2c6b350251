/*
 * minimal_mcp - the least that a server of the Model Context Protocol can do with a JSON library:
 * one tool, which echoes, on standard input and output.  It checks nothing.
 *
 * What a server that loads plugins, checks arguments and asks hooks costs beside it is measured by
 * run.py.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *initialize(json_t *params)
{
    return json_pack("{s:O, s:{s:{}}, s:{s:s, s:s}}", "protocolVersion",
                     json_object_get(params, "protocolVersion"), "capabilities", "tools",
                     "serverInfo", "name", "minimal", "version", "1");
}

static json_t *list_tools(void)
{
    return json_pack("{s:[{s:s, s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}]}", "tools", "name", "echo",
                     "description", "Say the same.", "inputSchema", "type", "object", "properties",
                     "message", "type", "string", "required", "message");
}

static json_t *echo(json_t *params)
{
    json_t *arguments = json_object_get(params, "arguments");
    return json_pack("{s:[{s:s, s:O}]}", "content", "type", "text", "text",
                     json_object_get(arguments, "message"));
}

/* NULL: nothing answers it. */
static json_t *answer(json_t *request)
{
    const char *method = json_string_value(json_object_get(request, "method"));
    json_t *id = json_object_get(request, "id"), *params = json_object_get(request, "params");
    json_t *result = NULL;
    if (!id || !method)
        return NULL;
    if (strcmp(method, "tools/call") == 0)
        result = echo(params);
    else if (strcmp(method, "tools/list") == 0)
        result = list_tools();
    else if (strcmp(method, "initialize") == 0)
        result = initialize(params);
    if (!result)
        result = json_object();
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        json_t *request = json_loadb(line, (size_t)length, 0, NULL);
        json_t *response = answer(request);
        if (response) {
            json_dumpf(response, stdout, JSON_COMPACT);
            putchar('\n');
            fflush(stdout);
        }
        json_decref(response);
        json_decref(request);
    }
    free(line);
    return 0;
}
