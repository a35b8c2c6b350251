/* What MCP servers answer to a call, as the bridge's results, errors and second rounds, and their
 * schemas as heads of requests.  JSON that it gives is JSON, a line of a head is one line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>

#include "../../plugins/mcp_bridge/head.h"
#include "../../plugins/mcp_bridge/input.h"
#include "../../plugins/mcp_bridge/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* ---- a host ---- */

static mortise_status reply(mortise_call *call, uint32_t type, const char *text, size_t length)
{
    (void)call;
    check(memchr(text, '\0', length) == NULL);
    check(type != MORTISE_JSON_RESULT || mortise_json_length(text) == length);
    return MORTISE_OK;
}

static mortise_status fail(mortise_call *call, const mortise_error *error)
{
    (void)call;
    check(strlen(error->message) == error->message_length && error->message_length > 0);
    return MORTISE_FAILED;
}

static mortise_status attach(mortise_call *call, const mortise_attachment *attachment)
{
    (void)call;
    check(attachment->mime_type && (attachment->data || *attachment->uri));
    return attachment->length % 2 ? MORTISE_INVALID : MORTISE_OK;
}

static const mortise_call_ops ops = {
    .size = sizeof(ops), .reply = reply, .fail = fail, .attach = attach};

/* ---- one input ---- */

static void try_result(const char *json, bool has_output_schema)
{
    mortise_call call = {.size = sizeof(call), .ops = &ops};
    struct result_source source = {.server = "fuzz", .has_output_schema = has_output_schema};
    check(result_give(&call, &source, json) <= MORTISE_OK);
    check(result_give_error(&call, &source, json) == MORTISE_FAILED);
}

static void try_input(const char *json)
{
    struct buffer params = BUFFER_INIT;
    char problem[300] = "";
    buffer_puts(&params, "{\"name\":\"x\"");
    bool ok = input_answer(json, &params, problem, sizeof(problem));
    buffer_puts(&params, "}");
    check(ok || *problem);
    check(!ok || mortise_json_length(params.text) == params.length);
    buffer_release(&params);
}

static void try_head(const char *json)
{
    char problem[400] = "";
    struct head head = HEAD_INIT;
    const struct link_message message = {
        .method = "tools/call", .name = json, .is_modern = true, .schema = json, .arguments = json};
    check(head_check_schema(json, problem, sizeof(problem)) || *problem);
    head_add_message(&head, &message);
    check(head_finish(&head));
    for (size_t i = 0; i < head.count; i++)
        for (const char *at = head.headers[i].value; *at; at++)
            check(*at >= ' ' && *at <= '~');
    head_release(&head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *json = size ? malloc(size) : NULL;
    if (!json)
        return 0;
    memcpy(json, data + 1, size - 1);
    json[size - 1] = '\0';
    try_head(json);
    if (mortise_json_length(json) && *json == '{') {
        try_result(json, data[0] & 1);
        try_input(json);
    }
    free(json);
    return 0;
}
