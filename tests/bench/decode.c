/*
 * decode - the way from bytes to events, and nothing else: for counting instructions.
 *
 *     decode FORMAT DELTAS           through http_response, with a stream that nobody watches
 *     decode FORMAT DELTAS bare      lines found with memchr(), one parse for each
 *
 * What is needed once is the same for any number of deltas: the difference of two runs is theirs.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_answers.h"
#include "provider/http_response.h"

enum { READ_BYTES = 16384 }; /* as libcurl hands them on */

static const struct wire *find_wire(const char *format)
{
    return strcmp(format, "chat") == 0        ? &wire_openai_chat
           : strcmp(format, "responses") == 0 ? &wire_openai_responses
           : strcmp(format, "anthropic") == 0 ? &wire_anthropic
                                              : &wire_gemini;
}

static bool decode(const struct wire *wire, const struct buffer *body)
{
    struct timeline timeline;
    struct stream stream;
    struct http_response response = {0};
    struct http_hints hints;
    timeline_init(&timeline);
    stream_init(&stream, &timeline);
    stream_begin(&stream);
    http_hints_init(&hints);
    if (http_response_begin(&response, wire, "bench", &stream)) {
        for (size_t at = 0; at < body->length; at += READ_BYTES) {
            size_t left = body->length - at;
            http_response_receive(&response, 200, body->data + at,
                                  left < READ_BYTES ? left : READ_BYTES);
        }
        http_response_conclude(&response, 200, &hints);
    }
    http_response_end(&response);
    bool good = stream.error.kind == ERROR_NONE;
    if (!good)
        fprintf(stderr, "decode: %s\n", stream.error.message);
    http_response_release(&response);
    stream_release(&stream);
    timeline_release(&timeline);
    return good;
}

static bool parse(const struct buffer *body)
{
    static const char field[] = "data: ";
    const char *at = body->data, *end = body->data + body->length, *newline;
    for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        size_t length = (size_t)(newline - at);
        if (length < sizeof(field) || memcmp(at, field, sizeof(field) - 1) != 0 || at[6] == '[')
            continue;
        json_error_t error;
        json_t *event = json_loadb(at + 6, length - 6, 0, &error);
        if (!event) {
            fprintf(stderr, "decode: %s\n", error.text);
            return false;
        }
        json_decref(event);
    }
    return true;
}

int main(int argc, char **argv)
{
    const struct answer_format *format = argc > 2 ? answer_format_named(argv[1]) : NULL;
    unsigned long deltas = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct answer answer;
    struct buffer body = {0};
    if (!format || !deltas) {
        fputs("usage: decode FORMAT DELTAS [bare]\n", stderr);
        return 2;
    }
    answer_begin(&answer, format, &body);
    for (size_t i = 0; i < deltas; i++)
        answer_delta(&answer, answer_word(i));
    answer_end(&answer);
    bool good = argc > 3 ? parse(&body) : decode(find_wire(argv[1]), &body);
    free(body.data);
    return good ? 0 : 1;
}
