/* The providers of a user's configuration: what a section can say, what it is refused for, and
 * that no key goes where it is not meant to (D24). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/secret.h"
#include "provider/profile_pairs.h"
#include "provider/profiles.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The catalogue with these sections; JSON with ' for ". */
static struct profiles *make(const char *quoted, struct error *error)
{
    char text[1024];
    assert_true(strlen(quoted) < sizeof(text));
    memcpy(text, quoted, strlen(quoted) + 1);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *sections = json_parse(text, strlen(text), NULL, NULL);
    assert_non_null(sections);
    struct profiles *profiles = profiles_new(sections, error);
    json_decref(sections);
    return profiles;
}

static struct profiles *made(const char *quoted)
{
    struct error error = ERROR_INIT;
    struct profiles *profiles = make(quoted, &error);
    if (!profiles)
        fail_msg("%s", error.message);
    return profiles;
}

static const struct profile *find(const struct profiles *profiles, const char *name)
{
    return profiles_find(profiles, name, strlen(name));
}

static void url_is(const struct profile *profile, const char *given, const char *expected)
{
    struct text url = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_true(profile_base_url(profile, given, &url, &error));
    assert_string_equal(text_cstr(&url), expected);
    text_release(&url);
}

static void test_without_sections_there_are_the_built_in_ones(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct profiles *profiles = profiles_new(NULL, &error);
    assert_non_null(profiles);
    size_t i = 0;
    for (; profile_at(i); i++) {
        assert_memory_equal(profiles_at(profiles, i), profile_at(i), sizeof(struct profile));
        assert_ptr_equal(profiles_at(NULL, i), profile_at(i));
    }
    assert_null(profiles_at(profiles, i));
    assert_null(profiles_at(NULL, i));
    assert_null(find(profiles, "work"));
    profiles_free(profiles);
    profiles_free(NULL);
}

static void test_a_section_can_say_all_that_a_profile_has(void **state)
{
    (void)state;
    struct profiles *profiles =
        made("{'work': {'format': 'openai-chat', 'summary': 'ours', 'base_url': 'https://h/x/',"
             " 'base_url_env': 'WORK_URL', 'path': '/d/{model}/chat', 'query': {'v': '1 2'},"
             " 'headers': {'X-A': 'a', 'X-B': {'env': 'B'}}, 'key_env': 'WORK_KEY',"
             " 'key_header': 'api-key', 'default_model': 'm/1', 'images': ['a*', '!b'],"
             " 'schemas': 'reduced', 'unsupported': ['stop'], 'strict_ids': true,"
             " 'max_tokens_field': 'most', 'reasoning_field': 'thoughts', 'cache_key': true,"
             " 'stream_options': false}}");
    const struct profile *work = find(profiles, "work");
    assert_non_null(work);
    assert_true(work->is_own);
    assert_null(work->like);
    assert_ptr_equal(work->wire, &wire_openai_chat);
    assert_string_equal(work->summary, "ours");
    assert_string_equal(work->base_url, "https://h/x");
    assert_string_equal(work->base_url_env, "WORK_URL");
    assert_string_equal(work->path, "/d/{model}/chat");
    assert_string_equal(work->query[0].name, "v");
    assert_string_equal(work->query[0].value, "1 2");
    assert_null(work->query[1].name);
    assert_string_equal(work->headers[0].value, "a");
    assert_null(work->headers[1].value);
    assert_non_null(work->headers[1].from);
    assert_null(work->headers[2].name);
    assert_string_equal(work->key_env, "WORK_KEY");
    assert_string_equal(work->key_header, "api-key: ");
    assert_string_equal(work->default_model, "m/1");
    assert_string_equal(work->seeing[1], "!b");
    assert_true(work->reduced_schemas);
    assert_string_equal(work->unsupported[0], "stop");
    assert_null(work->unsupported[1]);
    assert_true(work->strict_ids);
    assert_string_equal(work->max_tokens_field, "most");
    assert_string_equal(work->reasoning_field, "thoughts");
    assert_true(work->takes_cache_key);
    assert_true(work->no_stream_options);
    profiles_free(profiles);
}

/* A key for one server is not sent to another because one section starts from the other. */
static void test_a_server_of_ones_own_gets_no_key_of_another(void **state)
{
    (void)state;
    struct profiles *profiles = made("{'a': {'like': 'openai', 'base_url': 'https://h/v1'},"
                                     " 'b': {'like': 'openai'},"
                                     " 'c': {'like': 'gemini', 'base_url': 'https://h',"
                                     "       'key_env': 'C_KEY'},"
                                     " 'd': {'like': 'gemini', 'key_file': '/k'},"
                                     " 'groq': {'base_url': 'https://h/v1'}}");
    assert_null(find(profiles, "a")->key_env);
    assert_null(find(profiles, "a")->base_url_env);
    assert_string_equal(find(profiles, "a")->like, "openai");
    assert_string_equal(find(profiles, "a")->max_tokens_field, "max_completion_tokens");
    assert_string_equal(find(profiles, "b")->key_env, "OPENAI_API_KEY");
    assert_string_equal(find(profiles, "b")->base_url_env, "OPENAI_BASE_URL");
    assert_string_equal(find(profiles, "c")->key_env, "C_KEY");
    assert_null(find(profiles, "c")->key_env_too);
    url_is(find(profiles, "c"), NULL, "https://h/v1beta");
    assert_string_equal(find(profiles, "d")->key_from, "file");
    assert_null(find(profiles, "d")->key_env_too);
    /* What is built in keeps its key: only its place is another. */
    assert_string_equal(find(profiles, "groq")->key_env, "GROQ_API_KEY");
    assert_true(find(profiles, "groq")->is_own);
    assert_false(find(profiles, "openai")->is_own);
    setenv("GROQ_BASE_URL", "https://variable", 1);
    url_is(find(profiles, "groq"), NULL, "https://h/v1");
    url_is(find(profiles, "groq"), "https://option", "https://option");
    unsetenv("GROQ_BASE_URL");
    profiles_free(profiles);
}

static void test_values_have_their_forms(void **state)
{
    (void)state;
    struct profiles *profiles =
        made("{'a': {'like': 'ollama', 'base_url': 'box', 'images': true},"
             " 'b': {'like': 'ollama', 'base_url': 'http://box/v1', 'images': false},"
             " 'c': {'like': 'openai', 'key_header': 'Authorization: Token'},"
             " 'd': {'like': 'openai-responses', 'unsupported': ['reasoning']},"
             " 'e': {'like': 'openai', 'unsupported': []},"
             " 'f': {'format': 'anthropic', 'base_url': 'http://h', 'schemas': 'full'}}");
    url_is(find(profiles, "a"), NULL, "http://box:11434/v1");
    url_is(find(profiles, "a"), "other:1", "http://other:1/v1");
    url_is(find(profiles, "b"), NULL, "http://box/v1");
    url_is(find(profiles, "b"), "other", "http://other/v1");
    assert_true(profile_part_rules(find(profiles, "a"), "any", IMAGES_AUTO).takes);
    assert_false(profile_part_rules(find(profiles, "b"), "llava", IMAGES_ON).takes);
    assert_string_equal(find(profiles, "c")->key_header, "Authorization: Token ");
    /* Where the format itself has no place, a list gives it none. */
    assert_string_equal(profile_unsupported(find(profiles, "d"))[0], "reasoning");
    assert_string_equal(profile_unsupported(find(profiles, "d"))[1], "top_k");
    assert_string_equal(profile_unsupported(find(profiles, "d"))[2], "stop");
    assert_null(profile_unsupported(find(profiles, "e"))[0]);
    assert_ptr_equal(find(profiles, "f")->wire, &wire_anthropic);
    url_is(find(profiles, "f"), NULL, "http://h");
    profiles_free(profiles);
}

static void test_what_is_wrong_is_told_with_its_key(void **state)
{
    static const struct {
        const char *sections, *tells;
    } cases[] = {
        {"{'a': 1}", "'a': it must be an object"},
        {"{'a/b': {}}", "'a/b': a provider's name"},
        {"{'-a': {}}", "'-a': a provider's name"},
        {"{'': {}}", "'': a provider's name"},
        {"{'offline': {}}", "'offline': it asks no server"},
        {"{'a': {}}", "\"like\": \"PROVIDER\""},
        {"{'a': {'like': 'openai', 'format': 'gemini'}}", "it needs one of"},
        {"{'a': {'like': 'opnai'}}", "'like': unknown 'opnai'; did you mean 'openai'?"},
        {"{'a': {'like': 'script'}}", "'like': unknown 'script'; it can be openai, "},
        {"{'a': {'like': 7}}", "'like': it must be a text"},
        {"{'a': {'format': 'soap'}}", "it can be openai-chat, openai-responses, anthropic, gemini"},
        {"{'openai': {'like': 'groq'}}", "'openai': 'like': it is built in"},
        {"{'openai': {'format': 'gemini'}}", "'openai': 'format': it is built in"},
        {"{'openai': {'base_ur': 'x'}}", "unknown key 'base_ur'; did you mean 'base_url'?"},
        {"{'openai': {'zzzzzzzzz': 'x'}}", "unknown key 'zzzzzzzzz'; `man mortise`"},
        {"{'a': {'format': 'gemini'}}", "it needs \"base_url\""},
        {"{'openai': {'base_url': 7}}", "'base_url': it must be a text"},
        {"{'openai': {'base_url': ''}}", "'base_url': it must be a text"},
        {"{'openai': {'base_url': 'host/v1'}}", "'base_url': the base URL must begin with"},
        {"{'openai': {'base_url': 'ftp://host'}}", "'base_url': the base URL must begin with"},
        {"{'openai': {'base_url': 'https://h/?x=1'}}", "'base_url': the base URL may hold no '?'"},
        {"{'openai': {'base_url': 'https://u:p@h/v1'}}", "'base_url': it holds a user name"},
        {"{'openai': {'base_url': 'https://h\\n/v1'}}", "'base_url': it holds a line break"},
        {"{'openai': {'base_url': 'https://h\\u0000/v1'}}", "'base_url': it holds a line break"},
        {"{'openai': {'base_url_env': 'A-B'}}", "'base_url_env': it must be a name"},
        {"{'openai': {'path': 'chat'}}", "'path': it must begin with '/'"},
        {"{'openai': {'path': '/chat?x=y'}}", "\"query\""},
        {"{'openai': {'query': 'x=y'}}", "'query': it must be an object"},
        {"{'openai': {'query': {'x': 1}}}", "'query': 'x': it must be a text"},
        {"{'openai': {'headers': ['X: y']}}", "'headers': it must be an object"},
        {"{'openai': {'headers': {'X': {}}}}", "'headers': 'X': it must be a text, or an object"},
        {"{'openai': {'headers': {'X': {'env': 'A', 'file': 'B'}}}}", "with one of \"env\""},
        {"{'openai': {'headers': {'X': {'env': 7}}}}", "'headers': 'X': it must be a text, or"},
        {"{'openai': {'headers': {'X': 'a\\r\\nY: b'}}}", "'headers': 'X': it holds a line break"},
        {"{'openai': {'headers': {'X y': 'a'}}}", "'headers': 'X y' is not the name of a header"},
        {"{'openai': {'headers': {'X:': 'a'}}}", "'headers': 'X:' is not the name of a header"},
        {"{'openai': {'headers': {'': 'a'}}}", "'headers': '' is not the name of a header"},
        {"{'openai': {'headers': {'content-LENGTH': '1'}}}", "'content-LENGTH' is sent as"},
        {"{'openai': {'key_header': 'a b'}}", "'key_header': it must be the name of a header"},
        {"{'openai': {'key_header': ': x'}}", "'key_header': it must be the name of a header"},
        {"{'openai': {'key_env': 'sk-not-a-variable'}}", "'key_env': it must be a name"},
        {"{'openai': {'key_file': false}}", "'key_file': it must be a text"},
        {"{'openai': {'key_env': 'A', 'key_command': 'b'}}", "not several"},
        {"{'openai': {'images': 'yes'}}", "'images': it must be true, false, or a list"},
        {"{'openai': {'images': [1]}}", "'images': it must be a text"},
        {"{'openai': {'schemas': 'small'}}", "'schemas': unknown 'small'"},
        {"{'openai': {'unsupported': 'stop'}}", "'unsupported': it must be a list"},
        {"{'openai': {'unsupported': ['topk']}}", "unknown 'topk'; did you mean 'top_k'?"},
        {"{'openai': {'strict_ids': 'yes'}}", "'strict_ids': it must be true or false"},
        {"{'openai': {'max_tokens_field': 'a\\\"b'}}", "'max_tokens_field': it must be a name"},
        {"{'anthropic': {'max_tokens_field': 'x'}}", "only the format openai-chat has it"},
        {"{'gemini': {'stream_options': true}}", "only the format openai-chat has it"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct profiles *profiles = make(cases[i].sections, &error);
        if (profiles || !strstr(error.message, cases[i].tells))
            fail_msg("%s: '%s', not '%s'", cases[i].sections, error.message, cases[i].tells);
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_true(strncmp(error.message, "provider-config: '", 18) == 0);
    }
}

/* D24: what a pair's value is, is known when a client is made, and shown nowhere. */
static void test_values_of_pairs(void **state)
{
    (void)state;
    struct profiles *profiles =
        made("{'a': {'like': 'openai', 'query': {'api version': '1&2', 'k': {'env': 'PAIR_K'}},"
             " 'headers': {'X-Team': 'tools', 'X-Auth': 'canary-1', 'X-C': {'env': 'PAIR_C'}}}}");
    struct error error = ERROR_INIT;
    struct profile_pairs pairs;
    unsetenv("PAIR_K");
    setenv("PAIR_C", "canary-3", 1);
    assert_false(profile_pairs_read(find(profiles, "a"), &pairs, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, "'k' in the query of 'a'"));
    assert_non_null(strstr(error.message, "PAIR_K"));
    profile_pairs_release(&pairs);

    setenv("PAIR_K", "canary-2", 1);
    assert_true(profile_pairs_read(find(profiles, "a"), &pairs, &error));
    assert_string_equal(text_cstr(&pairs.query), "api%20version=1%262&k=canary-2");
    assert_string_equal(pairs.headers[0], "X-Team: tools");
    assert_string_equal(pairs.headers[1], "X-Auth: canary-1");
    assert_string_equal(pairs.headers[2], "X-C: canary-3");
    assert_null(pairs.headers[3]);
    profile_pairs_release(&pairs);
    char line[] = "tools canary-1 canary-2 canary-3";
    secret_redact_buffer(line, sizeof(line));
    assert_null(strstr(line, "canary"));
    assert_non_null(strstr(line, "tools"));

    setenv("PAIR_C", "one\r\nX-D: two", 1);
    assert_false(profile_pairs_read(find(profiles, "a"), &pairs, &error));
    assert_non_null(strstr(error.message, "header 'X-C' of 'a'"));
    assert_null(strstr(error.message, "two"));
    profile_pairs_release(&pairs);
    profiles_free(profiles);
    secret_clear();
}

static void test_clients_of_ones_own_providers(void **state)
{
    (void)state;
    struct profiles *profiles = made("{'work': {'like': 'openai', 'base_url': 'https://h/v1'},"
                                     " 'keyed': {'like': 'openai', 'default_model': 'm1'}}");
    struct error error = ERROR_INIT;
    unsetenv("OPENAI_API_KEY");
    struct client *client = client_new(
        &(struct client_settings){.profiles = profiles, .model = "work/a/b"}, &error);
    assert_non_null(client);
    assert_string_equal(client->provider, "work");
    assert_string_equal(client->model, "a/b");
    client_free(client);
    assert_null(client_new(&(struct client_settings){.profiles = profiles, .model = "keyed"},
                           &error));
    assert_non_null(strstr(error.message, "OPENAI_API_KEY"));
    assert_null(client_new(&(struct client_settings){.profiles = profiles, .model = "gone/x"},
                           &error));
    assert_non_null(strstr(error.message, "offline, work, keyed"));
    profiles_free(profiles);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    json_t *sections = json_loads("{\"a\": {\"like\": \"openai\", \"headers\": {\"X\": \"y\"},"
                                  " \"unsupported\": [\"stop\"], \"base_url\": \"http://h\"}}",
                                  0, NULL);
    int failed = 1;
    for (int allowed = 0; failed; allowed++) {
        struct error error = ERROR_INIT;
        fail_after(allowed);
        struct profiles *profiles = profiles_new(sections, &error);
        failed = fail_never();
        assert_true(failed ? !profiles && error.kind == ERROR_INTERNAL : profiles != NULL);
        profiles_free(profiles);
    }
    json_decref(sections);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_sections_there_are_the_built_in_ones),
        cmocka_unit_test(test_a_section_can_say_all_that_a_profile_has),
        cmocka_unit_test(test_a_server_of_ones_own_gets_no_key_of_another),
        cmocka_unit_test(test_values_have_their_forms),
        cmocka_unit_test(test_what_is_wrong_is_told_with_its_key),
        cmocka_unit_test(test_values_of_pairs),
        cmocka_unit_test(test_clients_of_ones_own_providers),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
