/*
 * bare_curl - what mortise is measured against: the same work in one small program.
 *
 *     bare_curl [--format NAME] [--ca FOLDER] [--tools N] [--keep-tools] BASE_URL PROMPT
 *
 * Asks, shows the answer as it comes, runs the tools that the model calls, and asks again, in
 * the way of somebody who knows libcurl and jansson and needs nothing else: one kept
 * connection, lines found with memchr(), one parse for each event, one write for all that the
 * socket held, the request dumped from a tree of messages.  There are no plugins, hooks,
 * limits, retries, checks of arguments or tidy errors: what those cost is what is measured.
 *
 * --tools N offers N tools, as many plugins of bench_plugin.c would.  --keep-tools writes them
 * as text once and copies that: what their bytes cost, and no more.  --ca trusts the certificates
 * that are found in the folder by their hash, and reads no bundle.
 *
 * --format is one of chat, responses, anthropic and gemini.  Without tools the format is what is
 * read: the request is that of Chat, which the server does not look at.
 */
#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_buffer.h"

enum { MOST_CALLS = 16 };

struct call {
    char *id, *name;
    struct buffer arguments;
};

struct chat;

/* How one of the formats says it. */
struct format {
    const char *name;
    const char *path;
    void (*take)(struct chat *chat, const json_t *event);
};

struct chat {
    const struct format *format;
    CURL *easy;
    CURLM *multi;
    json_t *request;  /* everything that is sent … */
    json_t *messages; /* … and its messages, borrowed from it */
    char *tools_text; /* with --keep-tools: what stands for "tools" */

    /* of one response */
    struct buffer line; /* the beginning of one that is not complete */
    struct buffer text;
    struct call calls[MOST_CALLS];
    size_t call_count;
    bool done;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bare_curl: %s: %s\n", what, why);
    exit(1);
}

/* ---- the response ---- */

static void take_call(struct chat *chat, const json_t *delta)
{
    size_t index = (size_t)json_integer_value(json_object_get(delta, "index"));
    const json_t *function = json_object_get(delta, "function");
    const json_t *id = json_object_get(delta, "id");
    const json_t *name = json_object_get(function, "name");
    const json_t *arguments = json_object_get(function, "arguments");
    if (index >= MOST_CALLS)
        die("response", "too many calls");
    struct call *call = &chat->calls[index];
    if (index >= chat->call_count)
        chat->call_count = index + 1;
    if (id && !call->id)
        call->id = strdup(json_string_value(id));
    if (name && !call->name)
        call->name = strdup(json_string_value(name));
    if (arguments)
        buffer_append(&call->arguments, json_string_value(arguments),
                      json_string_length(arguments));
}

static void show(struct chat *chat, const json_t *text)
{
    if (json_string_length(text) == 0)
        return;
    fwrite(json_string_value(text), 1, json_string_length(text), stdout);
    buffer_append(&chat->text, json_string_value(text), json_string_length(text));
}

static void take_chat(struct chat *chat, const json_t *event)
{
    size_t i;
    json_t *call;
    const json_t *choice = json_array_get(json_object_get(event, "choices"), 0);
    const json_t *delta = json_object_get(choice, "delta");
    show(chat, json_object_get(delta, "content"));
    json_array_foreach (json_object_get(delta, "tool_calls"), i, call)
        take_call(chat, call);
}

static bool is_type(const json_t *event, const char *name)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    return type && strcmp(type, name) == 0;
}

static void take_responses(struct chat *chat, const json_t *event)
{
    if (is_type(event, "response.output_text.delta"))
        show(chat, json_object_get(event, "delta"));
    else if (is_type(event, "response.completed"))
        chat->done = true;
}

static void take_anthropic(struct chat *chat, const json_t *event)
{
    if (is_type(event, "content_block_delta"))
        show(chat, json_object_get(json_object_get(event, "delta"), "text"));
    else if (is_type(event, "message_stop"))
        chat->done = true;
}

static void take_gemini(struct chat *chat, const json_t *event)
{
    size_t i;
    json_t *part;
    const json_t *candidate = json_array_get(json_object_get(event, "candidates"), 0);
    const json_t *content = json_object_get(candidate, "content");
    json_array_foreach (json_object_get(content, "parts"), i, part)
        show(chat, json_object_get(part, "text"));
    if (json_object_get(candidate, "finishReason"))
        chat->done = true;
}

static const struct format formats[] = {
    {"chat", "/chat/completions", take_chat},
    {"responses", "/responses", take_responses},
    {"anthropic", "/messages", take_anthropic},
    {"gemini", "/models/bench:streamGenerateContent?alt=sse", take_gemini},
};

static void take_event(struct chat *chat, const char *data, size_t length)
{
    json_error_t error;
    if (length == 6 && memcmp(data, "[DONE]", 6) == 0) {
        chat->done = true;
        return;
    }
    json_t *event = json_loadb(data, length, 0, &error);
    if (!event)
        die("event", error.text);
    chat->format->take(chat, event);
    json_decref(event);
}

static void take_line(struct chat *chat, const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length > 6 && memcmp(line, "data: ", 6) == 0)
        take_event(chat, line + 6, length - 6);
}

static size_t on_bytes(char *data, size_t size, size_t count, void *context)
{
    struct chat *chat = context;
    const char *end = data + size * count;
    const char *newline;
    const char *at = data;
    while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
        if (chat->line.length > 0) {
            buffer_append(&chat->line, at, (size_t)(newline - at));
            take_line(chat, chat->line.data, chat->line.length);
            chat->line.length = 0;
        } else {
            take_line(chat, at, (size_t)(newline - at));
        }
        at = newline + 1;
    }
    if (at < end)
        buffer_append(&chat->line, at, (size_t)(end - at));
    return size * count;
}

/* ---- the request ---- */

static char *make_body(const struct chat *chat)
{
    char *body = json_dumps(chat->request, JSON_COMPACT);
    if (!body || !chat->tools_text)
        return body;
    size_t length = strlen(body), tools_length = strlen(chat->tools_text);
    char *whole = malloc(length + tools_length + sizeof(",\"tools\":}"));
    if (!whole)
        die("request", "no memory");
    memcpy(whole, body, length - 1); /* without the "}" */
    memcpy(whole + length - 1, ",\"tools\":", 9);
    memcpy(whole + length + 8, chat->tools_text, tools_length);
    memcpy(whole + length + 8 + tools_length, "}", 2);
    free(body);
    return whole;
}

/* What was received is shown whenever the socket has nothing more. */
static void transfer(struct chat *chat)
{
    int running = 1, left;
    curl_multi_add_handle(chat->multi, chat->easy);
    while (running) {
        if (curl_multi_perform(chat->multi, &running) != CURLM_OK)
            die("transfer", "curl_multi_perform");
        fflush(stdout);
        if (running)
            curl_multi_poll(chat->multi, NULL, 0, 60000, NULL);
    }
    const CURLMsg *message = curl_multi_info_read(chat->multi, &left);
    if (!message || message->data.result != CURLE_OK)
        die("transfer", message ? curl_easy_strerror(message->data.result) : "no result");
    curl_multi_remove_handle(chat->multi, chat->easy);
}

static void ask(struct chat *chat)
{
    long status;
    char *body = make_body(chat);
    if (!body)
        die("request", "cannot be written");
    chat->line.length = chat->text.length = 0;
    chat->done = false;
    curl_easy_setopt(chat->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(chat->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    transfer(chat);
    curl_easy_getinfo(chat->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || !chat->done)
        die("response", "not complete");
    free(body);
}

/* ---- tools ---- */

/* The tool: looks at its arguments and has nothing to do. */
static const char *run_tool(const struct call *call)
{
    json_error_t error;
    json_t *arguments = json_loadb(call->arguments.data, call->arguments.length, 0, &error);
    bool good = json_is_string(json_object_get(arguments, "text")) &&
                json_is_integer(json_object_get(arguments, "count")) &&
                json_is_boolean(json_object_get(arguments, "loud"));
    json_decref(arguments);
    return good ? "{\"text\":\"hello\",\"count\":3}" : "Error: bad arguments";
}

/* The model's calls and what came of them, as messages. */
static void answer_calls(struct chat *chat)
{
    json_t *calls = json_array();
    json_array_append_new(
        chat->messages, json_pack("{s:s, s:s*, s:O}", "role", "assistant", "content",
                                  chat->text.length ? chat->text.data : NULL, "tool_calls", calls));
    for (size_t i = 0; i < chat->call_count; i++) {
        struct call *call = &chat->calls[i];
        json_array_append_new(calls, json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", call->id, "type",
                                               "function", "function", "name", call->name,
                                               "arguments", call->arguments.data));
        json_array_append_new(chat->messages,
                              json_pack("{s:s, s:s, s:s}", "role", "tool", "tool_call_id", call->id,
                                        "content", run_tool(call)));
        free(call->id);
        free(call->name);
        free(call->arguments.data);
        *call = (struct call){0};
    }
    chat->call_count = 0;
    json_decref(calls);
}

static json_t *make_tools(long count)
{
    json_t *tools = json_array();
    for (long i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "bench_tool_%04ld", i);
        json_t *properties =
            json_pack("{s:{s:s, s:s}, s:{s:s, s:s, s:i, s:i}, s:{s:s, s:s}}", "text", "type",
                      "string", "description", "What to look at.", "count", "type", "integer",
                      "description", "How often to do it.", "minimum", 0, "maximum", 100, "loud",
                      "type", "boolean", "description", "Whether others may hear it.");
        json_t *parameters =
            json_pack("{s:s, s:o, s:[s, s, s], s:b}", "type", "object", "properties", properties,
                      "required", "text", "count", "loud", "additionalProperties", 0);
        json_array_append_new(tools, json_pack("{s:s, s:{s:s, s:s, s:o}}", "type", "function",
                                               "function", "name", name, "description",
                                               "Do nothing with three arguments.", "parameters",
                                               parameters));
    }
    return tools;
}

/* ---- the program ---- */

static struct curl_slist *set_up(struct chat *chat, const char *base_url, const char *ca_folder)
{
    char url[512], key[512];
    const char *secret = getenv("OPENAI_API_KEY");
    snprintf(url, sizeof(url), "%s%s", base_url, chat->format->path);
    snprintf(key, sizeof(key), "Authorization: Bearer %s", secret ? secret : "");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    chat->easy = curl_easy_init();
    chat->multi = curl_multi_init();
    if (!chat->easy || !chat->multi)
        die("libcurl", "no handle");
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: text/event-stream");
    headers = curl_slist_append(headers, "Expect:");
    headers = curl_slist_append(headers, key);
    curl_easy_setopt(chat->easy, CURLOPT_URL, url);
    curl_easy_setopt(chat->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(chat->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(chat->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(chat->easy, CURLOPT_CONNECTTIMEOUT, 20L);
    curl_easy_setopt(chat->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(chat->easy, CURLOPT_WRITEDATA, chat);
    if (ca_folder) {
        curl_easy_setopt(chat->easy, CURLOPT_CAINFO, NULL);
        curl_easy_setopt(chat->easy, CURLOPT_CAPATH, ca_folder);
    }
    return headers;
}

static void offer_tools(struct chat *chat, long count, bool keep)
{
    json_t *tools = count > 0 ? make_tools(count) : NULL;
    if (tools && keep)
        chat->tools_text = json_dumps(tools, JSON_COMPACT);
    else if (tools)
        json_object_set(chat->request, "tools", tools);
    json_decref(tools);
}

struct options {
    const struct format *format;
    const char *ca_folder;
    long tools;
    bool keep_tools;
    const char *base_url, *prompt;
};

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(name, formats[i].name) == 0)
            return &formats[i];
    die("unknown format", name);
    return NULL;
}

static struct options read_options(int argc, char **argv)
{
    struct options options = {.format = &formats[0]};
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--keep-tools") == 0)
            options.keep_tools = true;
        else if (strcmp(argv[i], "--tools") == 0)
            options.tools = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--ca") == 0)
            options.ca_folder = argv[++i];
        else if (strcmp(argv[i], "--format") == 0)
            options.format = find_format(argv[++i]);
    }
    if (argc - i != 2)
        die("usage", "bare_curl [--format NAME] [--ca FOLDER] [--tools N] [--keep-tools] "
                     "BASE_URL PROMPT");
    options.base_url = argv[i];
    options.prompt = argv[i + 1];
    return options;
}

int main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    struct chat chat = {.format = options.format};
    struct curl_slist *headers = set_up(&chat, options.base_url, options.ca_folder);
    chat.messages = json_pack("[{s:s, s:s}]", "role", "user", "content", options.prompt);
    chat.request = json_pack("{s:s, s:b, s:{s:b}}", "model", "bench", "stream", 1, "stream_options",
                             "include_usage", 1);
    offer_tools(&chat, options.tools, options.keep_tools);
    json_object_set_new(chat.request, "messages", chat.messages);

    ask(&chat);
    while (chat.call_count > 0) {
        answer_calls(&chat);
        ask(&chat);
    }
    if (chat.text.length > 0 && chat.text.data[chat.text.length - 1] != '\n')
        putchar('\n');

    json_decref(chat.request);
    free(chat.tools_text);
    free(chat.line.data);
    free(chat.text.data);
    curl_slist_free_all(headers);
    curl_multi_cleanup(chat.multi);
    curl_easy_cleanup(chat.easy);
    curl_global_cleanup();
    return 0;
}
