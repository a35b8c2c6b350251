#include "bench_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * In these texts TEXT stands for the piece at hand, or in an end for all that was said, and PAD
 * for what may be beside it.
 */
#define TEXT  "\1"
#define PAD   "\2"
#define ENDED "\n\n"

struct answer_format {
    const char *name;
    const char *path; /* some part of the path of its requests, and of no other's */
    const char *begin;
    const char *delta;
    const char *const *ends; /* NULL-terminated: a list, because one literal may have 4095 bytes */
};

#define CHAT(choices)                                                                              \
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\","                       \
    "\"created\":1700000000,\"model\":\"bench\",\"choices\":" choices "}" ENDED

static const char *const chat_ends[] = {
    CHAT("[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]"),
    CHAT("[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"total_tokens\":120}"),
    "data: [DONE]" ENDED,
    NULL,
};

#define EVENT(type, members) "event: " type "\ndata: {\"type\":\"" type "\"," members "}" ENDED
#define RESPONSE(status, output, usage)                                                            \
    "\"response\":{\"id\":\"resp_bench\",\"object\":\"response\",\"created_at\":1700000000,"       \
    "\"status\":\"" status "\",\"model\":\"bench\",\"output\":[" output "],\"usage\":" usage "}"
#define PART(text)                                                                                 \
    "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"" text "\"}"
#define MESSAGE(status, part)                                                                      \
    "{\"id\":\"msg_bench\",\"type\":\"message\",\"status\":\"" status "\",\"content\":[" part      \
    "],\"role\":\"assistant\"}"
#define PLACE                                                                                      \
    "\"sequence_number\":4,\"item_id\":\"msg_bench\",\"output_index\":0,\"content_index\":0,"

static const char *const responses_ends[] = {
    EVENT("response.output_text.done", PLACE "\"text\":\"" TEXT "\",\"logprobs\":[]"),
    EVENT("response.content_part.done", PLACE "\"part\":" PART(TEXT)),
    EVENT("response.output_item.done",
          "\"sequence_number\":5,\"output_index\":0,\"item\":" MESSAGE("completed", PART(TEXT))),
    EVENT("response.completed",
          "\"sequence_number\":6," RESPONSE(
              "completed", MESSAGE("completed", PART(TEXT)),
              "{\"input_tokens\":100,\"output_tokens\":20,\"total_tokens\":120}")),
    NULL,
};

static const char *const anthropic_ends[] = {
    EVENT("content_block_stop", "\"index\":0"),
    EVENT("message_delta", "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
                           "\"usage\":{\"output_tokens\":20}"),
    "event: message_stop\ndata: {\"type\":\"message_stop\"}" ENDED,
    NULL,
};

#define GEMINI(text, more)                                                                         \
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" text "\"}],"                    \
    "\"role\":\"model\"},\"index\":0" more "}],\"usageMetadata\":{\"promptTokenCount\":100,"       \
    "\"candidatesTokenCount\":20,\"totalTokenCount\":120},\"modelVersion\":\"bench\","             \
    "\"responseId\":\"bench\"}" ENDED

static const char *const gemini_ends[] = {GEMINI("", ",\"finishReason\":\"STOP\""), NULL};

static const struct answer_format formats[] = {
    {
        .name = "chat",
        .path = "/chat/completions",
        .begin = CHAT("[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                      "\"finish_reason\":null}]"),
        .delta = CHAT("[{\"index\":0,\"delta\":{\"content\":\"" TEXT "\"},\"logprobs\":null,"
                      "\"finish_reason\":null}]" PAD),
        .ends = chat_ends,
    },
    {
        .name = "responses",
        .path = "/responses",
        .begin =
            EVENT("response.created", "\"sequence_number\":0," RESPONSE("in_progress", "", "null"))
                EVENT("response.output_item.added", "\"sequence_number\":1,\"output_index\":0,"
                                                    "\"item\":" MESSAGE("in_progress", ""))
                    EVENT("response.content_part.added", PLACE "\"part\":" PART("")),
        .delta =
            EVENT("response.output_text.delta", PLACE "\"delta\":\"" TEXT "\",\"logprobs\":[]" PAD),
        .ends = responses_ends,
    },
    {
        .name = "anthropic",
        .path = "/messages",
        .begin = EVENT("message_start", "\"message\":{\"id\":\"msg_bench\",\"type\":\"message\","
                                        "\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],"
                                        "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{"
                                        "\"input_tokens\":100,\"output_tokens\":1}}")
            EVENT("content_block_start",
                  "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}"),
        .delta = EVENT("content_block_delta",
                       "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" TEXT "\"}" PAD),
        .ends = anthropic_ends,
    },
    {
        .name = "gemini",
        .path = ":streamGenerateContent",
        .begin = "",
        .delta = GEMINI(TEXT, PAD),
        .ends = gemini_ends,
    },
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

const struct answer_format *answer_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0)
            return &formats[i];
    return NULL;
}

const struct answer_format *answer_format_of_path(const char *path)
{
    size_t length = strcspn(path, " \r\n");
    for (size_t i = 0; i < FORMATS; i++)
        if (memmem(path, length, formats[i].path, strlen(formats[i].path)))
            return &formats[i];
    return NULL;
}

/* ---- writing ---- */

static void append_padding(struct buffer *out, size_t length)
{
    static const char member[] = ",\"obfuscation\":\"";
    if (!length)
        return;
    buffer_append(out, member, sizeof(member) - 1);
    for (size_t i = 0; i < length; i++)
        buffer_append(out, "x", 1);
    buffer_append(out, "\"", 1);
}

static void append_events(struct buffer *out, const char *pattern, const char *text, size_t length,
                          size_t padding)
{
    for (;;) {
        size_t plain = strcspn(pattern, TEXT PAD);
        buffer_append(out, pattern, plain);
        pattern += plain;
        if (!*pattern)
            return;
        if (*pattern++ == *TEXT)
            buffer_append(out, text, length);
        else
            append_padding(out, padding);
    }
}

void answer_begin(struct answer *answer, const struct answer_format *format, struct buffer *out)
{
    *answer = (struct answer){.format = format, .out = out};
    append_events(out, format->begin, "", 0, 0);
}

void answer_padded(struct answer *answer, const char *text, size_t padding)
{
    size_t length = strlen(text);
    buffer_append(&answer->text, text, length);
    append_events(answer->out, answer->format->delta, text, length, padding);
}

void answer_delta(struct answer *answer, const char *text)
{
    answer_padded(answer, text, 0);
}

void answer_end(struct answer *answer)
{
    for (const char *const *end = answer->format->ends; *end; end++)
        append_events(answer->out, *end, answer->text.data ? answer->text.data : "",
                      answer->text.length, 0);
    free(answer->text.data);
    answer->text = (struct buffer){0};
}

const char *answer_word(size_t number)
{
    static const char *const words[] = {"The ",  "answer ", "is ",  "written ",
                                        "word ", "by ",     "word", ".\\n"};
    return words[number % (sizeof(words) / sizeof(*words))];
}

/* ---- calls ---- */

#define CALL(member)                                                                               \
    CHAT("[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0," member "}]},"                    \
         "\"finish_reason\":null}]")
#define ARGUMENTS(text) CALL("\"function\":{\"arguments\":\"" text "\"}")

/* Other arguments in each turn: the same call for ever would end the run. */
void answer_call_part(struct buffer *out, int part, long number, const char *tool)
{
    char event[1024];
    int length = 0;
    switch (part) {
    case 0:
        length = snprintf(event, sizeof(event),
                          CALL("\"id\":\"call_bench_%04ld\",\"type\":\"function\",\"function\":"
                               "{\"name\":\"%s\",\"arguments\":\"\"}"),
                          number, tool);
        break;
    case 1:
        length = snprintf(event, sizeof(event), ARGUMENTS("{\\\"text\\\":"));
        break;
    case 2:
        length = snprintf(event, sizeof(event), ARGUMENTS("\\\"hello\\\""));
        break;
    case 3:
        length = snprintf(event, sizeof(event), ARGUMENTS(",\\\"count\\\":%ld"), number % 10);
        break;
    case 4:
        length = snprintf(event, sizeof(event), ARGUMENTS(",\\\"loud\\\":true}"));
        break;
    default:
        buffer_append(
            out, CHAT("[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]"),
            strlen(CHAT("[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]")));
        append_events(out, chat_ends[1], "", 0, 0);
        append_events(out, chat_ends[2], "", 0, 0);
        return;
    }
    buffer_append(out, event, (size_t)length);
}
