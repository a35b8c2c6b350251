/* The tools that the conformance suite of the Model Context Protocol calls by name, with the
 * contents that it wants, and some that the tests beside it use. */
#include <mortise/tool.h>

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SAFE (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

/* One red pixel. */
static const unsigned char png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0xf7, 0x03, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
};

/* A millisecond of silence. */
static const unsigned char wav[] = {
    0x52, 0x49, 0x46, 0x46, 0x2c, 0x00, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6d, 0x74, 0x20,
    0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x40, 0x1f, 0x00, 0x00, 0x40, 0x1f, 0x00, 0x00,
    0x01, 0x00, 0x08, 0x00, 0x64, 0x61, 0x74, 0x61, 0x08, 0x00, 0x00, 0x00, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80,
};

/* Until `ms` are over or the call is cancelled. */
static void wait_for(mortise_call *call, int ms)
{
    struct pollfd stop = {.fd = mortise_cancel_fd(call), .events = POLLIN};
    poll(&stop, 1, ms);
}

/* A resource: its bytes, and where they are from. */
static mortise_status embed(mortise_call *call, const char *mime_type, const char *uri,
                            const void *data, size_t length)
{
    const mortise_attachment resource = {.size = sizeof(resource), .mime_type = mime_type,
                                         .data = data, .length = length, .uri = uri};
    return call->ops->attach(call, &resource);
}

/* ---- every kind of content --------------------------------------------------------------- */

MORTISE_TOOL(echo, SAFE, "Say the same.",
    (string, message, "What to say.", required));

static mortise_status echo(mortise_call *call, const echo_args *args)
{
    return mortise_reply_text(call, args->message, strlen(args->message));
}

MORTISE_TOOL(test_simple_text, SAFE, "Return a text.", MORTISE_NO_ARGS);

static mortise_status test_simple_text(mortise_call *call, const test_simple_text_args *args)
{
    (void)args;
    return mortise_reply(call, "This is a simple text response for testing.");
}

MORTISE_TOOL(test_image_content, SAFE, "Return an image.", MORTISE_NO_ARGS);

static mortise_status test_image_content(mortise_call *call, const test_image_content_args *args)
{
    (void)args;
    return mortise_attach_bytes(call, "image/png", NULL, png, sizeof(png));
}

MORTISE_TOOL(test_audio_content, SAFE, "Return a sound.", MORTISE_NO_ARGS);

static mortise_status test_audio_content(mortise_call *call, const test_audio_content_args *args)
{
    (void)args;
    return mortise_attach_bytes(call, "audio/wav", NULL, wav, sizeof(wav));
}

MORTISE_TOOL(test_embedded_resource, SAFE, "Return a resource of text.", MORTISE_NO_ARGS);

static mortise_status test_embedded_resource(mortise_call *call,
                                             const test_embedded_resource_args *args)
{
    static const char text[] = "This is an embedded resource content.";
    (void)args;
    return embed(call, "text/plain", "test://embedded-resource", text, sizeof(text) - 1);
}

MORTISE_TOOL(test_embedded_blob, SAFE, "Return a resource of bytes.", MORTISE_NO_ARGS);

static mortise_status test_embedded_blob(mortise_call *call, const test_embedded_blob_args *args)
{
    (void)args;
    return embed(call, "application/octet-stream", "test://embedded-blob", "\0\1\2\377", 4);
}

MORTISE_TOOL(test_resource_link, SAFE, "Return a link.", MORTISE_NO_ARGS);

static mortise_status test_resource_link(mortise_call *call, const test_resource_link_args *args)
{
    (void)args;
    return mortise_attach_uri(call, "text/html", "a page", "https://example.org/page");
}

MORTISE_TOOL(test_multiple_content_types, SAFE, "Return a text, an image and a resource.",
    MORTISE_NO_ARGS);

static mortise_status test_multiple_content_types(mortise_call *call,
                                                  const test_multiple_content_types_args *args)
{
    static const char json[] = "{\"test\":\"data\",\"value\":123}";
    (void)args;
    mortise_status status = mortise_attach_bytes(call, "image/png", NULL, png, sizeof(png));
    if (status == MORTISE_OK)
        status = embed(call, "application/json", "test://mixed-content-resource", json,
                       sizeof(json) - 1);
    return status == MORTISE_OK ? mortise_reply(call, "Multiple content types test:") : status;
}

MORTISE_TOOL_WITH(test_structured_content,
    (output_schema("{\"type\":\"object\",\"properties\":{\"degrees\":{\"type\":\"number\"},"
                   "\"sky\":{\"type\":\"string\"}},\"required\":[\"degrees\",\"sky\"]}")),
    SAFE, "Return what has a schema.", MORTISE_NO_ARGS);

static mortise_status test_structured_content(mortise_call *call,
                                              const test_structured_content_args *args)
{
    (void)args;
    return mortise_reply_json(call, "{\"degrees\":22.5,\"sky\":\"clear\"}");
}

MORTISE_TOOL(test_error_handling, SAFE, "Fail.", MORTISE_NO_ARGS);

static mortise_status test_error_handling(mortise_call *call, const test_error_handling_args *args)
{
    (void)args;
    return mortise_fail(call, "This tool intentionally returns an error for testing");
}

/* ---- calls that take a while -------------------------------------------------------------- */

MORTISE_TOOL(test_tool_with_progress, SAFE, "Tell how far it is.", MORTISE_NO_ARGS);

static mortise_status test_tool_with_progress(mortise_call *call,
                                              const test_tool_with_progress_args *args)
{
    (void)args;
    for (int done = 0; done <= 100; done += 50) {
        mortise_progress(call, done, 100, NULL);
        wait_for(call, 50);
    }
    return mortise_reply(call, "All three steps are done.");
}

static atomic_int cancelled_calls;

/* Not read-only, so that nobody makes its call a second time. */
MORTISE_TOOL(test_wait, MORTISE_CONCURRENCY_SAFE, "Wait until the call is cancelled.",
    (integer, seconds, "At most.", range(0, 60), fallback(60)));

static mortise_status test_wait(mortise_call *call, const test_wait_args *args)
{
    mortise_progress(call, 1, 0, "waiting");
    wait_for(call, (int)args->seconds * 1000);
    if (!mortise_cancelled(call))
        return mortise_reply(call, "Nobody cancelled it.");
    atomic_fetch_add(&cancelled_calls, 1);
    return MORTISE_CANCELLED;
}

MORTISE_TOOL(test_cancelled_calls, SAFE, "Count the calls that were cancelled.", MORTISE_NO_ARGS);

static mortise_status test_cancelled_calls(mortise_call *call,
                                           const test_cancelled_calls_args *args)
{
    (void)args;
    return mortise_reply(call, "%d", atomic_load(&cancelled_calls));
}

/* ---- schemas ------------------------------------------------------------------------------ */

/* As the suite has it, which looks for each of its words. */
MORTISE_TOOL_RAW(json_schema_2020_12_tool, SAFE, "Tool with JSON Schema 2020-12 features",
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":"
    "{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
    "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}");

static mortise_status json_schema_2020_12_tool(mortise_call *call, const char *json)
{
    return mortise_reply_text(call, json, strlen(json));
}

/* On HTTP its region also stands in the head of a modern request. */
MORTISE_TOOL_RAW(test_header_parameter, SAFE, "Tell what came in a header as well.",
    "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
    "\"x-mcp-header\":\"Region\"},\"note\":{\"type\":\"string\"}},\"required\":[\"region\"]}");

static mortise_status test_header_parameter(mortise_call *call, const char *json)
{
    char region[64];
    if (mortise_json_string(json, "region", region, sizeof(region)) != MORTISE_OK)
        return mortise_fail(call, "'region' must be shorter");
    return mortise_reply(call, "In %s.", region);
}

/* ---- what a client can ------------------------------------------------------------------- */

/* It asks for no sampling, which is the host's to do, but will not run without. */
MORTISE_TOOL(test_missing_capability, SAFE, "Run only for a client that can sample.",
    MORTISE_NO_ARGS);

static mortise_status test_missing_capability(mortise_call *call,
                                              const test_missing_capability_args *args)
{
    const char *capabilities = mortise_context(call, "metadata.mcp.capabilities");
    const char *sampling;
    (void)args;
    if (!capabilities || mortise_json_object(capabilities, "sampling", &sampling) != MORTISE_OK)
        return mortise_fail_as(call, MORTISE_NOT_SUPPORTED, "mcp.capability.sampling",
                               "this tool needs a client that can sample");
    return mortise_reply(call, "The client can sample.");
}

MORTISE_TOOL(test_streaming_elicitation, SAFE, "Answer without asking the client.",
    MORTISE_NO_ARGS);

static mortise_status test_streaming_elicitation(mortise_call *call,
                                                 const test_streaming_elicitation_args *args)
{
    (void)args;
    return mortise_reply(call, "Nothing was asked.");
}

MORTISE_TOOL(test_logging_tool, SAFE, "Write what is for the operator.", MORTISE_NO_ARGS);

static mortise_status test_logging_tool(mortise_call *call, const test_logging_tool_args *args)
{
    static const char line[] = "a line for those who watch\n";
    (void)args;
    mortise_emit(call, "stderr", line, sizeof(line) - 1);
    return mortise_reply(call, "It was written.");
}

/* ---- tools that come and go --------------------------------------------------------------- */

struct conformance {
    const mortise_host *host;
};

/* A reload keeps the file mapped, and this with it. */
static atomic_int changes;

MORTISE_TOOL(test_trigger_tool_change, SAFE, "Bring or take away a tool.", MORTISE_NO_ARGS);

static mortise_status test_trigger_tool_change(mortise_call *call,
                                               const test_trigger_tool_change_args *args)
{
    const struct conformance *conformance = mortise_state(call);
    (void)args;
    atomic_fetch_add(&changes, 1);
    conformance->host->changed(conformance->host);
    return mortise_reply(call, "The tools change.");
}

static mortise_status here(mortise_call *call, const char *json, void *data)
{
    (void)json;
    (void)data;
    return mortise_reply(call, "Here I am.");
}

static void add_tools(void *state, mortise_tool_list *list)
{
    (void)state;
    if (atomic_load(&changes) % 2)
        mortise_add_tool(list, &(mortise_new_tool){.name = "test_here_for_now",
                                                   .description = "Was brought.",
                                                   .flags = SAFE,
                                                   .input_schema = "{\"type\":\"object\"}",
                                                   .run = here});
}

static void *open_conformance(const mortise_host *host)
{
    struct conformance *conformance = calloc(1, sizeof(*conformance));
    if (!conformance)
        return mortise_refuse(host, "out of memory");
    if (!MORTISE_HAS(host, mortise_host, changed)) {
        free(conformance);
        return mortise_refuse(host, "this host takes no change of tools");
    }
    conformance->host = host;
    return conformance;
}

MORTISE_PLUGIN(.name = "conformance", .version = "1.0.0", .open = open_conformance, .add = add_tools,
    .close = free,
    .tools = MORTISE_TOOLS(echo, json_schema_2020_12_tool, test_audio_content,
                           test_cancelled_calls, test_embedded_blob, test_embedded_resource,
                           test_error_handling, test_header_parameter, test_image_content,
                           test_logging_tool, test_missing_capability,
                           test_multiple_content_types, test_resource_link, test_simple_text,
                           test_streaming_elicitation, test_structured_content,
                           test_tool_with_progress, test_trigger_tool_change, test_wait));
