/* Which providers are built in, where they are and what a model's name means (cli.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "provider/provider.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int without_variables(void **state)
{
    const struct profile *profile;
    (void)state;
    for (size_t i = 0; (profile = profile_at(i)); i++) {
        if (profile->base_url_env)
            unsetenv(profile->base_url_env);
        if (profile->key_env)
            unsetenv(profile->key_env);
        if (profile->key_env_too)
            unsetenv(profile->key_env_too);
    }
    secret_clear();
    return 0;
}

static const struct profile *find(const char *name)
{
    return profile_find(name, strlen(name));
}

static void check_words(const char *const *words)
{
    for (; words && *words; words++)
        assert_true(**words);
}

/* The table holds no name twice, and nothing that would only show when a server is asked. */
static void test_every_profile_is_complete(void **state)
{
    (void)state;
    size_t i = 0;
    const struct profile *profile;
    setenv("AWS_REGION", "us-east-1", 1);
    for (; (profile = profile_at(i)); i++) {
        struct text url = TEXT_INIT;
        struct error error = ERROR_INIT;
        assert_ptr_equal(find(profile->name), profile);
        assert_non_null(profile->summary);
        assert_null(profile->like);
        assert_false(profile->is_own);
        if (!profile->wire)
            continue;
        assert_non_null(profile->base_url_env);
        assert_non_null(profile->key_env);
        assert_true(!profile->key_env_too || strcmp(profile->key_env, profile->key_env_too));
        assert_true(!profile->default_model || *profile->default_model);
        assert_true(!profile->key_header || strstr(profile->key_header, ": "));
        /* Only a server on this machine is asked without TLS, and only that needs no key. */
        if (profile->base_url) {
            bool is_local = strncmp(profile->base_url, "http://127.0.0.1:", 17) == 0;
            assert_true(profile_base_url(profile, NULL, &url, &error));
            assert_true(is_local || strncmp(url.data, "https://", 8) == 0);
            assert_int_equal(profile->key_is_optional, is_local);
        } else {
            assert_false(profile_base_url(profile, NULL, &url, &error));
            assert_non_null(strstr(error.message, profile->base_url_env));
            assert_non_null(strstr(error.message, "--base-url"));
        }
        check_words(profile->seeing);
        check_words(profile->unsupported);
        text_release(&url);
    }
    assert_int_equal(i, 20);
    assert_null(find("openaix"));
    assert_null(find("open"));
    assert_null(find(""));
}

/* `wire->path` comes behind what is expected here. */
static void test_base_urls(void **state)
{
    static const struct {
        const char *provider, *given, *url;
    } cases[] = {
        {"openai", NULL, "https://api.openai.com/v1"},
        {"openai", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"},
        {"openai", "http://127.0.0.1:8080/v1///", "http://127.0.0.1:8080/v1"},
        {"openai", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
        {"openai", "HTTPS://host/x/v1", "HTTPS://host/x/v1"},
        {"anthropic", NULL, "https://api.anthropic.com/v1"},
        {"anthropic", "http://host:1/", "http://host:1/v1"},
        {"anthropic", "http://host:1/v1", "http://host:1/v1"},
        {"anthropic", "http://host:1/v1/", "http://host:1/v1"},
        {"anthropic", "http://host:1/05-x", "http://host:1/05-x/v1"},
        {"bedrock", NULL, "https://bedrock-runtime.eu-west-3.amazonaws.com"},
        {"bedrock", "http://127.0.0.1:8/x/", "http://127.0.0.1:8/x"},
        {"bedrock", "http://{region}", "http://{region}"},
        {"gemini", NULL, "https://generativelanguage.googleapis.com/v1beta"},
        {"gemini", "http://host:1", "http://host:1/v1beta"},
        {"gemini", "http://host:1/v1beta/", "http://host:1/v1beta"},
        {"ollama", NULL, "http://127.0.0.1:11434/v1"},
        {"ollama", "127.0.0.1:11435", "http://127.0.0.1:11435/v1"},
        {"ollama", "box", "http://box:11434/v1"},
        {"ollama", "0.0.0.0", "http://127.0.0.1:11434/v1"},
        {"ollama", "0.0.0.0:80", "http://127.0.0.1:80/v1"},
        {"ollama", "0.0.0.0.example", "http://0.0.0.0.example:11434/v1"},
        {"ollama", "[::1]", "http://[::1]:11434/v1"},
        {"ollama", "[::1]:99", "http://[::1]:99/v1"},
        {"ollama", "box/ollama/", "http://box:11434/ollama/v1"},
        {"ollama", "https://box/", "https://box/v1"},
        {"ollama", "https://box/v1", "https://box/v1"},
        {"llamacpp", "box", "http://box:8080/v1"},
        {"vllm", "http://box:8000/v1", "http://box:8000/v1"},
        {"azure", "https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1"},
        {"azure", "https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1"},
        {"compatible", "https://host/x", "https://host/x"},
    };
    (void)state;
    setenv("AWS_REGION", "eu-west-3", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text url = TEXT_INIT;
        struct error error = ERROR_INIT;
        const struct profile *profile = find(cases[i].provider);
        assert_true(profile_base_url(profile, cases[i].given, &url, &error));
        assert_string_equal(text_cstr(&url), cases[i].url);
        text_release(&url);
    }
}

static void test_the_variable_follows_the_same_rule(void **state)
{
    struct text url = TEXT_INIT;
    struct error error = ERROR_INIT;
    (void)state;
    setenv("ANTHROPIC_BASE_URL", "http://host/v1/", 1);
    assert_true(profile_base_url(find("anthropic"), NULL, &url, &error));
    assert_string_equal(text_cstr(&url), "http://host/v1");
    assert_true(profile_base_url(find("anthropic"), "http://other", &url, &error));
    assert_string_equal(text_cstr(&url), "http://other/v1");
    setenv("ANTHROPIC_BASE_URL", "", 1);
    assert_true(profile_base_url(find("anthropic"), NULL, &url, &error));
    assert_string_equal(text_cstr(&url), "https://api.anthropic.com/v1");
    text_release(&url);
}

static void test_bad_base_urls_name_the_variable(void **state)
{
    static const char *const bad[] = {"host:80",      "ftp://host/v1",      "http://",
                                      "http:///v1",   "http://host/v1?k=v", "http://host/v1#x",
                                      "http://ho st", "http://host/\nx"};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct text url = TEXT_INIT;
        struct error error = ERROR_INIT;
        setenv("OPENAI_BASE_URL", bad[i], 1);
        assert_false(profile_base_url(find("openai"), NULL, &url, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, "OPENAI_BASE_URL"));
        assert_null(strstr(error.message, "k=v"));
        text_release(&url);
    }
}

/* ---- client_new() ---- */

static void test_names_that_make_no_client(void **state)
{
    static const struct {
        const char *model;
        enum error_kind kind;
        const char *tells;
    } cases[] = {
        {NULL, ERROR_CONFIG, "-m PROVIDER/MODEL"},
        {"", ERROR_CONFIG, "-m PROVIDER/MODEL"},
        {"gpt-4.1", ERROR_USAGE, "openai"},
        {"nobody/x", ERROR_USAGE, "nobody/x"},
        {"ollama", ERROR_USAGE, "ollama/MODEL"},
        {"script/", ERROR_USAGE, "script/FILE"},
        {"openai/x", ERROR_CONFIG, "OPENAI_API_KEY"},
        {"azure/x", ERROR_CONFIG, "AZURE_OPENAI_API_KEY"},
        {"azure", ERROR_USAGE, "azure/MODEL"},
        {"compatible/x", ERROR_CONFIG, "COMPATIBLE_BASE_URL"},
        {"openai", ERROR_CONFIG, "OPENAI_API_KEY"},
        {"anthropic/x", ERROR_CONFIG, "ANTHROPIC_API_KEY"},
        {"gemini/x", ERROR_CONFIG, "GEMINI_API_KEY"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct client_settings settings = {.model = cases[i].model};
        assert_null(client_new(&settings, &error));
        assert_int_equal(error.kind, cases[i].kind);
        assert_non_null(strstr(error.message, cases[i].tells));
    }
}

static void test_clients_of_servers(void **state)
{
    static const struct {
        const char *model, *provider, *name, *base_url;
    } cases[] = {
        {"openai/gpt-x", "openai", "gpt-x", NULL},
        {"openrouter/meta/llama", "openrouter", "meta/llama", "http://127.0.0.1:1/v1"},
        {"ollama/llama3.2:1b", "ollama", "llama3.2:1b", NULL},
        {"deepseek", "deepseek", "deepseek-v4-flash", "http://127.0.0.1:1"},
        {"compatible/x/y", "compatible", "x/y", "http://127.0.0.1:1/v1"},
        {"vllm/x", "vllm", "x", NULL},
    };
    (void)state;
    setenv("OPENAI_API_KEY", "sk-test-value", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct client_settings settings = {
            .model = cases[i].model, .base_url = cases[i].base_url, .retries = 3};
        struct client *client = client_new(&settings, &error);
        assert_non_null(client);
        assert_string_equal(client->provider, cases[i].provider);
        assert_string_equal(client->model, cases[i].name);
        assert_int_equal(client->max_attempts, 4);
        client_free(client);
    }
}

/* D24 */
static void test_keys_are_secret_and_clean(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct client_settings settings = {.model = "openai/x"};
    setenv("OPENAI_API_KEY", "sk-two\r\nlines: 1", 1);
    assert_null(client_new(&settings, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, "OPENAI_API_KEY"));
    assert_null(strstr(error.message, "sk-two"));

    setenv("OPENAI_API_KEY", "sk-canary-12345", 1);
    struct client *client = client_new(&settings, &error);
    assert_non_null(client);
    char line[64] = "the key is sk-canary-12345";
    secret_redact_buffer(line, sizeof(line));
    assert_null(strstr(line, "canary"));
    client_free(client);
}

/* cli.md: GEMINI_API_KEY, else GOOGLE_API_KEY. */
static void test_a_key_may_have_two_names(void **state)
{
    (void)state;
    const struct profile *gemini = find("gemini");
    const char *from = NULL;
    struct error error = ERROR_INIT;
    struct client_settings settings = {.model = "gemini/x"};
    assert_null(profile_key(gemini, &from));
    setenv("GOOGLE_API_KEY", "two words", 1);
    setenv("GEMINI_API_KEY", "", 1);
    assert_string_equal(profile_key(gemini, &from), "two words");
    assert_string_equal(from, "GOOGLE_API_KEY");
    assert_null(client_new(&settings, &error));
    assert_non_null(strstr(error.message, "GOOGLE_API_KEY"));
    setenv("GEMINI_API_KEY", "first", 1);
    assert_string_equal(profile_key(gemini, &from), "first");
    assert_string_equal(from, "GEMINI_API_KEY");
    assert_null(profile_key(find("ollama"), NULL));
    assert_null(profile_key(find("offline"), NULL));
}

/* F75: what is known of models; the user's word counts more, where there is a way at all. */
static void test_which_models_take_images(void **state)
{
    (void)state;
    static const struct {
        const char *profile, *model;
        enum images_choice choice;
        bool image, pdf;
    } cases[] = {
        {"anthropic", "claude-sonnet-4-5", IMAGES_AUTO, true, true},
        {"anthropic", "claude-2.1", IMAGES_AUTO, false, false},
        {"anthropic", "glm-5", IMAGES_AUTO, false, false},
        {"anthropic", "glm-5", IMAGES_ON, true, true},
        {"anthropic", "claude-sonnet-4-5", IMAGES_OFF, false, false},
        {"openai", "gpt-4.1", IMAGES_AUTO, true, true},
        {"openai", "o3", IMAGES_AUTO, true, true},
        {"openai", "o3-mini", IMAGES_AUTO, false, false},
        {"openai", "gpt-3.5-turbo", IMAGES_AUTO, false, false},
        {"openai", "my-own-model", IMAGES_AUTO, false, false},
        {"ollama", "llava:13b", IMAGES_AUTO, true, false},
        {"ollama", "gemma3:1b", IMAGES_AUTO, false, false},
        {"ollama", "gemma3:27b", IMAGES_AUTO, true, false},
        {"openrouter", "google/gemini-2.5-flash", IMAGES_AUTO, true, true},
        {"deepseek", "deepseek-chat", IMAGES_AUTO, false, false},
        {"gemini", "gemini-3-pro-preview", IMAGES_AUTO, true, true},
        {"gemini", "gemini-3.1-flash", IMAGES_AUTO, true, true},
        {"gemini", "gemini-2.5-pro", IMAGES_AUTO, false, false},
        {"gemini", "gemini-2.5-pro", IMAGES_ON, true, true},
        {"mistral", "mistral-medium-latest", IMAGES_ON, false, false},
        {"script", "x", IMAGES_ON, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct profile *profile = profile_find(cases[i].profile, strlen(cases[i].profile));
        const struct part_rules rules =
            profile_part_rules(profile, cases[i].model, cases[i].choice);
        assert_int_equal((rules.takes & PART_TAKES_IMAGE) != 0, cases[i].image);
        assert_int_equal((rules.takes & PART_TAKES_PDF) != 0, cases[i].pdf);
    }
    struct error error = ERROR_INIT;
    struct client_settings settings = {.model = "ollama/tiny", .images = IMAGES_ON};
    struct client *client = client_new(&settings, &error);
    assert_non_null(client);
    assert_int_equal(client->parts.takes, PART_TAKES_IMAGE);
    client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_profile_is_complete, without_variables),
        cmocka_unit_test_setup(test_base_urls, without_variables),
        cmocka_unit_test_setup(test_the_variable_follows_the_same_rule, without_variables),
        cmocka_unit_test_setup(test_bad_base_urls_name_the_variable, without_variables),
        cmocka_unit_test_setup(test_names_that_make_no_client, without_variables),
        cmocka_unit_test_setup(test_clients_of_servers, without_variables),
        cmocka_unit_test_setup(test_keys_are_secret_and_clean, without_variables),
        cmocka_unit_test_setup(test_a_key_may_have_two_names, without_variables),
        cmocka_unit_test_setup(test_which_models_take_images, without_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
