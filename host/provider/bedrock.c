/*
 * A message of the kind "chunk" holds {"bytes": "…"}: in base64 the event that the model's own
 * server would have sent.  ("p" beside it is padding, so that lengths tell nothing.)  What goes
 * wrong in the middle of a response is a message of the type "exception", seldom "error".
 */
#include "provider/bedrock.h"

#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_check.h"
#include "provider/wire_read.h"

/* ---- events ---- */

static void open_chunk(struct slice payload, struct stream *stream, struct text *event)
{
    size_t length;
    struct error error = ERROR_INIT;
    json_t *chunk = json_parse(payload.data, payload.length, NULL, &error);
    const char *bytes = json_member_text(chunk, "bytes", &length);
    bool is_readable = bytes && base64_read(event, bytes, length);
    if (error.kind == ERROR_INTERNAL)
        wire_fail_memory(stream);
    else if (!is_readable && !event->failed)
        wire_fail(stream, ERROR_SERVER, true, "the server sent a chunk without readable 'bytes'");
    json_decref(chunk);
}

/* ---- errors ---- */

/* As servers say it whose errors have codes.  The payload is an object with a "message"; from a
 * server that breaks its own rules it may be anything. */
static void put_error(struct text *out, struct slice code, struct slice message)
{
    text_puts(out, "{\"error\":{\"code\":");
    text_json_string(out, code.length ? code.data : "", code.length);
    text_puts(out, ",\"message\":");
    if (message.length && json_is_valid(message.data, message.length))
        text_append(out, message.data, message.length);
    else
        text_json_string(out, message.length ? message.data : "", message.length);
    text_puts(out, "}}");
}

static void fail(struct stream *stream, struct slice code, struct slice message)
{
    struct text text = TEXT_INIT;
    put_error(&text, code, message);
    json_t *error = text.failed ? NULL : json_parse(text.data, text.length, NULL, NULL);
    if (!error)
        wire_fail_memory(stream);
    else if (!wire_fail_event(stream, error))
        wire_fail(stream, ERROR_SERVER, true,
                  "the server reported an error without an explanation");
    stream_stop(stream, STOP_ERROR);
    json_decref(error);
    text_release(&text);
}

void bedrock_open_message(const struct event_stream_message *message, struct stream *stream,
                          struct text *event)
{
    if (slice_is(message->type, "exception"))
        fail(stream, message->exception, message->payload);
    else if (slice_is(message->type, "error"))
        fail(stream, message->error_code, message->error_message);
    else if (slice_is(message->event, "chunk"))
        open_chunk(message->payload, stream, event);
}

/* ---- what can be done ---- */

/* By words of Amazon's; the first that fit decide. */
static const struct {
    const char *words;
    const char *advice;
} advices[] = {
    {"signature expired", "check the clock of this machine"},
    {"signature not yet current", "check the clock of this machine"},
    {"signature we calculated does not match",
     "check AWS_SECRET_ACCESS_KEY, or the file that the secret access key comes from"},
    {"security token included in the request is expired",
     "sign in again, or set a new AWS_SESSION_TOKEN"},
    {"security token included in the request is invalid",
     "check AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN, or the file that they come from: they belong "
     "together"},
    {"bearer token", "check AWS_BEARER_TOKEN_BEDROCK"},
    {"api key", "check AWS_BEARER_TOKEN_BEDROCK"},
    {"not authorized to perform",
     "the account's policy has to allow bedrock:InvokeModelWithResponseStream"},
    {"access to the model", "have it enabled for the account, in Bedrock's console of the region"},
    {"on-demand throughput", "name an inference profile, such as us.MODEL or global.MODEL"},
    {"model identifier is invalid", "check the model's name, and AWS_REGION"},
};

void bedrock_advise(struct error *error)
{
    size_t used = strlen(error->message);
    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
        if (!strcasestr(error->message, advices[i].words))
            continue;
        snprintf(error->message + used, sizeof(error->message) - used, "; %s", advices[i].advice);
        return;
    }
}
