/* The numbers in what servers say of a request that did not fit (FAULTS 41 to 43). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "provider/overflow.h"
#include "provider/wire_error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct sample {
    const char *who;
    int status;
    const char *message;
    int64_t limit, input, output;
} samples[] = {
    {"Anthropic", 400, "prompt is too long: 215692 tokens > 200000 maximum", 200000, 215692, -1},
    {"Anthropic", 400,
     "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input "
     "length or `max_tokens` and try again",
     200000, 178959, 64000},
    {"OpenAI", 400,
     "This model's maximum context length is 128000 tokens. However, your messages resulted in "
     "204308 tokens. Please reduce the length of the messages.",
     128000, 204308, -1},
    {"OpenAI", 400,
     "This model's maximum context length is 4096 tokens. However, you requested 4222 tokens (1222 "
     "in the messages, 3000 in the completion). Please reduce the length of the messages or "
     "completion.",
     4096, 1222, 3000},
    {"OpenAI", 400,
     "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (4000 "
     "in the messages, 1100 in the functions, and 4000 in the completion).",
     8192, 5100, 4000},
    {"OpenAI", 400,
     "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in "
     "300,123 tokens.",
     272000, 300123, -1},
    {"OpenAI", 400,
     "Your input exceeds the context window of this model. Please adjust your input and try again.",
     -1, -1, -1},
    {"vLLM", 400,
     "This model's maximum context length is 8192 tokens. However, you requested 0 output tokens "
     "and your prompt contains at least 8193 input tokens.",
     8192, -1, 0},
    {"vLLM", 400,
     "This model's maximum context length is 8192 tokens. However, you requested 4096 output "
     "tokens "
     "and your prompt contains 5000 input tokens, for a total of 9096 tokens.",
     8192, 5000, 4096},
    {"vLLM", 400,
     "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context "
     "length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).",
     8192, 5000, 4096},
    {"llama.cpp", 400,
     "request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it",
     4096, 9001, -1},
    {"llama.cpp", 500, "the request exceeds the available context size", -1, -1, -1},
    {"Gemini", 400,
     "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
     1048576, 1200293, -1},
    {"Gemini", 400, "The input token count exceeds the maximum number of tokens allowed (1048576).",
     1048576, -1, -1},
    {"Mistral", 400,
     "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum "
     "context length",
     32768, 65673, -1},
    {"Groq", 400, "Please reduce the length of the messages or completion.", -1, -1, -1},
    {"Groq", 413,
     "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, "
     "Requested 7212, please reduce your message size and try again.",
     6000, 7212, -1},
    {"Together", 422,
     "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2019 "
     "`inputs` tokens and 30 `max_new_tokens`",
     2048, 2019, 30},
    {"Ollama", 400, "prompt too long; exceeded max context length by 512 tokens", -1, -1, -1},
    {"Bedrock", 400, "Input is too long for requested model.", -1, -1, -1},
    {"Bedrock", 400,
     "Too many input tokens. Max input tokens: 100000, request input token count: 126123", 100000,
     126123, -1},
    {"OpenRouter", 400,
     "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 "
     "tokens (40000 of text input, 832 of tool input, 2000 in the output). Please reduce the "
     "length of either one.",
     32768, 40832, 2000},
    {"OpenRouter", 400,
     "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 "
     "tokens (42832 of text input).",
     32768, -1, -1},
    {"xAI", 400,
     "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072,
     537812, -1},
    {"LM Studio", 400,
     "Trying to keep the first 10000 tokens when context the overflows. However, the model is "
     "loaded with context length of only 4096 tokens, which is not enough.",
     4096, 10000, -1},
    {"Moonshot", 400,
     "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", 8192, 9000,
     -1},
    {"Cohere", 400,
     "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5612.",
     4081, 5612, -1},
};

static void test_the_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct overflow said;
        overflow_read(&said, samples[i].message);
        if (said.limit != samples[i].limit || said.input != samples[i].input ||
            said.output != samples[i].output)
            fail_msg("%s: %lld, %lld, %lld of '%s'", samples[i].who, (long long)said.limit,
                     (long long)said.input, (long long)said.output, samples[i].message);
    }
}

/* Each of them is told apart from other bad requests. */
static void test_the_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct error error = ERROR_INIT;
        json_t *body = json_pack("{s{ss}}", "error", "message", samples[i].message);
        assert_non_null(body);
        assert_true(wire_error_from_json(&error, samples[i].status, body));
        json_decref(body);
        if (error.kind != ERROR_CONTEXT_OVERFLOW || error.retryable)
            fail_msg("%s: kind %s of '%s'", samples[i].who, error_kind_name(error.kind),
                     samples[i].message);
    }
}

/* FAULTS 40: what talks of tokens and means something else. */
static void test_other_kinds(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *message;
        enum error_kind kind;
    } cases[] = {
        {429, "This request would exceed the rate limit of 40,000 input tokens per minute",
         ERROR_RATE_LIMIT},
        {429, "Too many input tokens, please wait before trying again.", ERROR_RATE_LIMIT},
        {400,
         "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
         ERROR_BAD_REQUEST},
        {400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens",
         ERROR_BAD_REQUEST},
        {400, "Invalid value for 'max_tokens'", ERROR_BAD_REQUEST},
        {400, "messages: text content blocks must be non-empty", ERROR_BAD_REQUEST},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        json_t *body = json_pack("{s{ss}}", "error", "message", cases[i].message);
        assert_true(wire_error_from_json(&error, cases[i].status, body));
        json_decref(body);
        assert_string_equal(error_kind_name(error.kind), error_kind_name(cases[i].kind));
    }
}

static void test_odd_messages(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "maximum context length is tokens",
        "maximum context length is 99999999999999999999999 tokens",
        "prompt is too long: , tokens > ,",
        "exceed context limit: 1 + 2 >",
        "exceed context limit: ",
        "Limit",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct overflow said;
        overflow_read(&said, cases[i]);
        assert_int_equal(said.limit, -1);
        assert_int_equal(said.input, -1);
        assert_int_equal(said.output, -1);
    }
}

/* A message of the longest kind that fits almost everywhere takes no time. */
static void test_hostile_message(void **state)
{
    (void)state;
    struct overflow said;
    char message[1024] = "";
    while (strlen(message) + 60 < sizeof(message))
        strcat(message, "maximum context length is 1 tokens requested 2 tokens (");
    overflow_read(&said, message);
    assert_int_equal(said.limit, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_numbers),     cmocka_unit_test(test_the_kind),
        cmocka_unit_test(test_other_kinds),     cmocka_unit_test(test_odd_messages),
        cmocka_unit_test(test_hostile_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
