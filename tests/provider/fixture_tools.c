/*
 * fixture_tools - the four tools that the recorded responses call.
 *
 * Each run appends one JSON line, {"name": …, "arguments": …}, to the file that FIXTURE_LOG
 * names: what ran, and with what.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mortise/tool.h>

#define FLAGS (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

MORTISE_TOOL(get_weather, FLAGS, "Current weather for a city",
    (string, city, "The city.", required));
MORTISE_TOOL(read_file, FLAGS, "Read a text file",
    (string, path, "The file.", required));
MORTISE_TOOL(list_dir, FLAGS, "List the working directory", MORTISE_NO_ARGS);
MORTISE_TOOL(run_sql, FLAGS, "Run one query",
    (integer, id, "The row.", required),
    (string, q, "The query."));

/* "KEY": "VALUE" with the quotes that JSON wants; "" when there is no value. */
static void write_string(char *out, size_t size, const char *key, const char *value)
{
    size_t used = 0;
    out[0] = '\0';
    if (!value)
        return;
    used = (size_t)snprintf(out, size, "\"%s\": \"", key);
    for (; *value && used + 8 < size; value++) {
        if (*value == '"' || *value == '\\')
            out[used++] = '\\';
        if ((unsigned char)*value < ' ')
            used += (size_t)snprintf(out + used, size - used, "\\u%04x", (unsigned)*value);
        else
            out[used++] = *value;
    }
    out[used++] = '"';
    out[used] = '\0';
}

/* One write, so that lines of tools that run at once do not mix. */
static void note(const char *name, const char *arguments)
{
    const char *path = getenv("FIXTURE_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    char line[1200];
    if (fd < 0)
        return;
    int length =
        snprintf(line, sizeof(line), "{\"name\": \"%s\", \"arguments\": {%s}}\n", name, arguments);
    if (write(fd, line, (size_t)length) != length)
        perror(path);
    close(fd);
}

static mortise_status get_weather(mortise_call *call, const get_weather_args *args)
{
    char arguments[512];
    write_string(arguments, sizeof(arguments), "city", args->city);
    note("get_weather", arguments);
    return mortise_reply(call, "Dry in %s.", args->city);
}

static mortise_status read_file(mortise_call *call, const read_file_args *args)
{
    char arguments[512];
    write_string(arguments, sizeof(arguments), "path", args->path);
    note("read_file", arguments);
    return mortise_reply(call, "The text of %s.", args->path);
}

static mortise_status list_dir(mortise_call *call, const list_dir_args *args)
{
    (void)args;
    note("list_dir", "");
    return mortise_reply(call, "a.md b.md");
}

static mortise_status run_sql(mortise_call *call, const run_sql_args *args)
{
    char query[512], arguments[600];
    write_string(query, sizeof(query), "q", args->q);
    snprintf(arguments, sizeof(arguments), "\"id\": %lld%s%s", (long long)args->id,
             query[0] ? ", " : "", query);
    note("run_sql", arguments);
    return mortise_reply(call, "1 row");
}

MORTISE_PLUGIN(.name = "fixture_tools", .version = "1.0.0",
               .tools = MORTISE_TOOLS(get_weather, read_file, list_dir, run_sql));
