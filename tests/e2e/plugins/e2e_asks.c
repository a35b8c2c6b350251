/*
 * Asks for things without a call: to be loaded anew, because it has learnt a tool, and for requests.
 * What it has learnt is in a file, one name a line, so that it outlives its process; "!" is a reason
 * to refuse.
 */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct asks {
    const mortise_host *host;
    char file[256];
};

/* ---- what it learns ---- */

static mortise_status answer(mortise_call *call, const char *json, void *data)
{
    (void)json;
    return mortise_reply(call, "here is %s", (const char *)data);
}

/* From a thread that has no call. */
static void *ask_to_be_loaded(void *data)
{
    const struct asks *asks = data;
    mortise_changed(asks->host);
    mortise_changed(asks->host);
    return NULL;
}

MORTISE_TOOL(learn, 0, "Learn a tool.", (string, name, "Its name.", required));

static bool keep(const struct asks *asks, const char *name)
{
    FILE *file = fopen(asks->file, "a");
    if (!file)
        return false;
    fprintf(file, "%s\n", name);
    return fclose(file) == 0;
}

static mortise_status learn(mortise_call *call, const learn_args *args)
{
    struct asks *asks = mortise_state(call);
    pthread_t thread;
    if (!keep(asks, args->name))
        return mortise_fail(call, "there is no file");
    if (pthread_create(&thread, NULL, ask_to_be_loaded, asks) != 0)
        return mortise_fail(call, "there is no thread");
    pthread_join(thread, NULL);
    return mortise_reply(call, "learnt %s", args->name);
}

MORTISE_TOOL(fall, 0, "Learn a tool, and end before anybody is told.",
    (string, name, "Its name.", required));

static mortise_status fall(mortise_call *call, const fall_args *args)
{
    _exit(keep(mortise_state(call), args->name) ? 1 : 2);
}

static void add(void *state, mortise_tool_list *list)
{
    const struct asks *asks = state;
    char name[64];
    FILE *file = fopen(asks->file, "r");
    while (file && fscanf(file, "%63s", name) == 1)
        mortise_add_tool(list, &(mortise_new_tool){.name = name,
                                                   .description = "Learnt.",
                                                   .input_schema = "{\"type\":\"object\"}",
                                                   .run = answer,
                                                   .data = strdup(name),
                                                   .release = free});
    if (file)
        fclose(file);
}

/* ---- requests ---- */

/* What was heard of an answer, in order. */
struct heard {
    char text[4096];
    const char *stop_at; /* once this was heard, or NULL */
    int stop_fd;
};

static void note(struct heard *heard, const char *text, size_t length)
{
    size_t at = strlen(heard->text);
    snprintf(heard->text + at, sizeof(heard->text) - at, "%.*s|", (int)length, text);
    if (heard->stop_at && strstr(heard->text, heard->stop_at))
        eventfd_write(heard->stop_fd, 1);
}

static void hear_head(void *data, uint32_t status, const mortise_http_header *headers, size_t count)
{
    char line[128];
    const char *type = "none";
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(headers[i].name, "Content-Type") == 0)
            type = headers[i].value;
    int length = snprintf(line, sizeof(line), "%u %s", (unsigned)status, type);
    note(data, line, (size_t)length);
}

static bool hear_piece(void *data, const void *bytes, size_t length)
{
    struct heard *heard = data;
    note(heard, bytes, length);
    return !strstr(heard->text, "enough");
}

/* `call` NULL: outside of one. */
static void request(const struct asks *asks, mortise_call *call, const char *url,
                    const char *stop_at, struct heard *heard)
{
    const mortise_http *http = call ? mortise_http_of(call) : mortise_http_outside(asks->host);
    *heard = (struct heard){.stop_at = stop_at, .stop_fd = eventfd(0, EFD_CLOEXEC)};
    mortise_http_request request = {.size = sizeof(request),
                                    .url = url,
                                    .timeout_ms = -1,
                                    .max_bytes = SIZE_MAX,
                                    .answered = hear_head,
                                    .received = hear_piece,
                                    .received_data = heard,
                                    .stop_fd = stop_at ? heard->stop_fd : 0};
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = !http  ? MORTISE_UNSUPPORTED
                            : call ? http->send(call, &request, &response)
                                   : http->fetch(asks->host, &request, &response);
    size_t at = strlen(heard->text);
    snprintf(heard->text + at, sizeof(heard->text) - at, " %d %u %zu %s", (int)status,
             (unsigned)response.status, response.body_length,
             response.problem ? response.problem : "");
    if (http && !call)
        http->release(asks->host, &response);
    close(heard->stop_fd);
}

struct errand {
    const struct asks *asks;
    const char *url, *stop_at;
    struct heard heard;
};

static void *run_errand(void *data)
{
    struct errand *errand = data;
    request(errand->asks, NULL, errand->url, errand->stop_at, &errand->heard);
    return NULL;
}

MORTISE_TOOL(outside, 0, "Ask on threads of the plugin's own.", (string, url, "Whom.", required),
    (string, stop_at, "What ends it."), (integer, times, "How often at once.", fallback(1)));

static mortise_status outside(mortise_call *call, const outside_args *args)
{
    struct errand errands[16];
    pthread_t threads[16];
    size_t count = args->times < 16 ? (size_t)args->times : 16;
    for (size_t i = 0; i < count; i++) {
        errands[i] = (struct errand){
            .asks = mortise_state(call), .url = args->url, .stop_at = args->stop_at};
        if (pthread_create(&threads[i], NULL, run_errand, &errands[i]) != 0)
            return mortise_fail(call, "there is no thread");
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 1; i < count; i++)
        if (strcmp(errands[i].heard.text, errands[0].heard.text) != 0)
            return mortise_fail(call, "%s != %s", errands[i].heard.text, errands[0].heard.text);
    return mortise_reply(call, "%s", errands[0].heard.text);
}

MORTISE_TOOL(inside, 0, "Ask in a call.", (string, url, "Whom.", required),
    (string, stop_at, "What ends it."));

static mortise_status inside(mortise_call *call, const inside_args *args)
{
    struct heard heard;
    request(mortise_state(call), call, args->url, args->stop_at, &heard);
    return mortise_reply(call, "%s", heard.text);
}

MORTISE_TOOL(confined_outside, MORTISE_SANDBOX_REQUIRED, "Ask where nothing is to be had.",
    MORTISE_NO_ARGS);

static mortise_status confined_outside(mortise_call *call, const confined_outside_args *args)
{
    const struct asks *asks = mortise_state(call);
    (void)args;
    mortise_changed(asks->host);
    return mortise_reply(call, "%s", mortise_http_outside(asks->host) ? "found" : "nothing");
}

/* ---- the plugin ---- */

static bool refuses(const char *path)
{
    FILE *file = fopen(path, "r");
    char text[256] = "";
    size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    return strchr(text, '!');
}

static void *asks_open(const mortise_host *host)
{
    char url[256];
    struct heard heard;
    struct asks *asks = calloc(1, sizeof(*asks));
    if (!asks)
        return mortise_refuse(host, "out of memory");
    asks->host = host;
    mortise_config_string(host, "file", asks->file, sizeof(asks->file));
    if (refuses(asks->file)) {
        free(asks);
        return mortise_refuse(host, "it was told to refuse");
    }
    if (mortise_config_string(host, "url", url, sizeof(url)) == MORTISE_OK) {
        request(asks, NULL, url, NULL, &heard);
        mortise_log(host, MORTISE_LOG_WARNING, "in open(): %s", heard.text);
    }
    return asks;
}

static void asks_close(void *state)
{
    struct asks *asks = state;
    char url[256];
    struct heard heard;
    if (mortise_config_string(asks->host, "url", url, sizeof(url)) == MORTISE_OK) {
        request(asks, NULL, url, NULL, &heard);
        mortise_log(asks->host, MORTISE_LOG_WARNING, "in close(): %s", heard.text);
    }
    free(asks);
}

/* A plugin with such a tool cannot be in a sandbox itself. */
static bool wants_tool(const void *state, const mortise_tool *tool)
{
    const struct asks *asks = state;
    bool has_confined = false;
    mortise_config_boolean(asks->host, "confined", &has_confined);
    return tool != &confined_outside_tool || has_confined;
}

MORTISE_PLUGIN(.name = "asks", .version = "1", .wants_tool = wants_tool,
               .tools = MORTISE_TOOLS(learn, fall, outside, inside, confined_outside),
               .open = asks_open, .add = add, .close = asks_close);
