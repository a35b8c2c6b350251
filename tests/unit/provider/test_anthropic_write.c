/* What requests of Anthropic Messages are (D7, D13, D14, D15, D17; FAULTS 100). */
#include "writer_test.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(text)        "{\"type\":\"text\",\"text\":\"" text "\"}"
#define USER(blocks)      "{\"role\":\"user\",\"content\":[" blocks "]}"
#define ASSISTANT(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]}"
#define USE(id, name, json)                                                                        \
    "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":" json "}"
#define RESULT(id, more) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\"" more "}"
#define TOOLS                                                                                      \
    "\"tools\":["                                                                                  \
    "{\"name\":\"add\",\"description\":\"Adds.\","                                                 \
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"       \
    "{\"name\":\"now\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]"
#define SYSTEM "\"system\":\"Be brief.\",\"messages\":["

#define SAID                                                                                       \
    "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"},"                              \
    "{\"type\":\"tool_use\",\"id\":\"v1\",\"name\":\"add\",\"input\":{ }},"                        \
    "{\"type\":\"tool_use\",\"id\":\"call_made\",\"name\":\"now\",\"input\":{}}"
#define SESSION(said)                                                                              \
    USER(TEXT("Hi"))                                                                               \
    "," ASSISTANT(said) "," USER(                                                                  \
        RESULT("v1", ",\"content\":\"ok\"") "," RESULT("call_made", ",\"content\":\"noon\""))
#define NEUTRAL SESSION(USE("v1", "add", "{}") "," USE("call_made", "now", "{}"))

static const struct writer_verbatim verbatims[] = {
    {"anthropic", "m1", 3, "m1", SESSION(SAID)},
    {"anthropic", "m1", 3, "m2", NEUTRAL},
    {"openai", "m1", 3, "m1", NEUTRAL},
    {"anthropic", "m1", 4, "m1", NEUTRAL}, /* as if one item had been taken out */
};

static const struct writer_setting settings[] = {
    {"claude-sonnet-4-5", NULL, -1, 0.5, ",\"max_tokens\":8192,\"temperature\":0.5}"},
    {"claude-sonnet-4-5", "low", -1, 0.5,
     ",\"max_tokens\":10240,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}}"},
    {"claude-sonnet-4-5", "high", 4000, 0.5,
     ",\"max_tokens\":4000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}"},
    {"claude-sonnet-4-5", "high", 1000, 0.5, ",\"max_tokens\":1000}"},
    {"claude-opus-4-6", "high", -1, 0.5,
     ",\"max_tokens\":8192,\"thinking\":{\"type\":\"adaptive\"},"
     "\"output_config\":{\"effort\":\"high\"}}"},
};

static struct writer writer = {
    .wire = &wire_anthropic,
    .provider = "anthropic",
    .front = "{\"model\":\"m1\",",
    .open = SYSTEM,
    .close = "],\"stream\":true,\"max_tokens\":8192}",
    .tools = TOOLS ",",
    .conversation = USER(TEXT("Hi \\\"you\\\"\\n\xE6\x97\xA5")) "," ASSISTANT(
        TEXT("On it.") "," USE("c1", "add", "{\"n\": 2512292042121000001}") "," USE(
            "c2", "add",
            "{}")) "," USER(RESULT("c1", ",\"content\":\"three\"") "," RESULT("c2",
                                                                              ",\"content\":\"no "
                                                                              "JSON\",\"is_error\":"
                                                                              "true")),
    .tail = "],\"stream\":true,\"max_tokens\":100,\"stop_sequences\":[\"END\"],"
            "\"temperature\":0.1,\"top_p\":0.5,\"top_k\":40}",
    /* 100: in one message, before any text */
    .results = USER(TEXT("Hi")) "," ASSISTANT(USE("c1", "add", "{}") "," USE("c2", "now", "{}") "," USE(
        "c3", "add",
        "{}")) "," USER(RESULT("c1",
                               "") "," RESULT("c2",
                                              ",\"content\":\"error: "
                                              "two\",\"is_error\":true") "," RESULT("c3",
                                                                                    ",\"c"
                                                                                    "onte"
                                                                                    "nt\""
                                                                                    ":\"E"
                                                                                    "rror"
                                                                                    "\","
                                                                                    "\"is"
                                                                                    "_err"
                                                                                    "or\""
                                                                                    ":tru"
                                                                                    "e") "," TEXT("and?")),
    .odd = {USER(TEXT("(empty message)")), USER(TEXT("(empty message)")),
            USER(TEXT("(start of the conversation)")) "," ASSISTANT(TEXT("Hello") "," TEXT(
                "again")) "," USER(TEXT("(empty message)") "," TEXT("<system>Note.</system>"))},
    .settings = TABLE(settings),
    .verbatim = "[" SAID "]",
    .verbatims = TABLE(verbatims),
};

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        WRITER_TESTS(&writer),
        WRITER_TEST(writer_sends_settings, &writer),
        WRITER_TEST(writer_sends_verbatim, &writer),
        WRITER_TEST(writer_sends_no_other_format, &writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
