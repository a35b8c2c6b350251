/* Where the keys for Amazon come from, and what is said when there are none (D24). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/secret.h"
#include "provider/aws_credentials.h"
#include "unit/base/failing.h"
#include "unit/config/sandbox.h"

#define CREDENTIALS "home/.aws/credentials"
#define CONFIG      "home/.aws/config"

static int enter(void **state)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID",   "AWS_SECRET_ACCESS_KEY",       "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_DEFAULT_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",   "AWS_REGION",
        "AWS_DEFAULT_REGION"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    secret_clear();
    return sandbox_enter(state);
}

static void check_is_secret(const char *value)
{
    struct text text = TEXT_INIT;
    text_printf(&text, "before %s after", value);
    secret_redact(&text);
    assert_string_equal(text.data, "before [redacted] after");
    text_release(&text);
}

static void check_found(const char *id, const char *secret, const char *token, const char *from)
{
    struct aws_credentials found = {0};
    struct error error = ERROR_INIT;
    if (!aws_credentials_find(&found, &error))
        fail_msg("%s", error.message);
    assert_string_equal(found.access_key_id, id);
    assert_string_equal(found.secret_access_key, secret);
    check_is_secret(secret);
    if (token) {
        assert_string_equal(found.session_token, token);
        check_is_secret(token);
    } else {
        assert_null(found.session_token);
    }
    assert_non_null(strstr(found.from, from));
    aws_credentials_release(&found);
}

static void check_refused(const char *part)
{
    struct aws_credentials found = {0};
    struct error error = ERROR_INIT;
    assert_false(aws_credentials_find(&found, &error));
    assert_null(found.access_key_id);
    assert_null(found.secret_access_key);
    assert_int_equal(error.kind, ERROR_CONFIG);
    if (!strstr(error.message, part))
        fail_msg("'%s' is not in: %s", part, error.message);
    assert_null(strstr(error.message, "hidden"));
}

/* ---- the environment ---- */

static void test_environment(void **state)
{
    (void)state;
    sandbox_write(CREDENTIALS,
                  "[default]\naws_access_key_id=FILE\naws_secret_access_key=file-hidden\n"
                  "aws_session_token=file-token\n",
                  0600);
    setenv("AWS_ACCESS_KEY_ID", "AKIDENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "env-hidden", 1);
    check_found("AKIDENV", "env-hidden", NULL, "the environment"); /* no token of another place */
    setenv("AWS_SESSION_TOKEN", "", 1);
    check_found("AKIDENV", "env-hidden", NULL, "the environment");
    setenv("AWS_SESSION_TOKEN", "env-token", 1);
    check_found("AKIDENV", "env-hidden", "env-token", "the environment");
    setenv("AWS_ACCESS_KEY_ID", "", 1);
    check_refused("AWS_SECRET_ACCESS_KEY is set and AWS_ACCESS_KEY_ID is not");
    setenv("AWS_ACCESS_KEY_ID", "AKIDENV", 1);
    unsetenv("AWS_SECRET_ACCESS_KEY");
    check_refused("AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not");
    setenv("AWS_SECRET_ACCESS_KEY", "env-hidden\r\nX-Evil: 1", 1);
    check_refused("the secret access key from the environment holds");
    setenv("AWS_SECRET_ACCESS_KEY", "env-hidden", 1);
    setenv("AWS_SESSION_TOKEN", "hidden\xC3\xA9", 1);
    check_refused("the session token from the environment holds");
}

/* ---- files ---- */

static void test_files(void **state)
{
    (void)state;
    sandbox_write(CREDENTIALS,
                  "# [default]\r\n"
                  "; aws_access_key_id = NO\r\n"
                  "aws_access_key_id = STRAY\r\n"
                  "[ default ]\r\n"
                  "aws_access_key_id\t=  AKIDDEF \r\n"
                  "  aws_secret_access_key = nested\r\n"
                  "aws_secret_access_key = de/f+hidden==\r\n"
                  "[work]\n"
                  "aws_access_key_id=AKIDWORK\n"
                  "aws_secret_access_key=work-hidden\n"
                  "aws_session_token=work-token\n"
                  "[default]\n"
                  "aws_session_token=later-token\n"
                  "[profile work]\naws_access_key_id=OTHER\n"
                  "[half]\naws_access_key_id=AKIDHALF\naws_secret_access_key=\n[broken",
                  0600);
    check_found("AKIDDEF", "de/f+hidden==", "later-token", "profile 'default' of '/");
    setenv("AWS_DEFAULT_PROFILE", "work", 1);
    check_found("AKIDWORK", "work-hidden", "work-token", "profile 'work' of '/");
    setenv("AWS_PROFILE", "half", 1);
    check_refused("has an 'aws_access_key_id' and no 'aws_secret_access_key'");
    setenv("AWS_PROFILE", "nobody", 1);
    check_refused("no profile 'nobody' in '/");
    setenv("AWS_PROFILE", "wor", 1);
    check_refused("check AWS_PROFILE");
}

static void test_files_elsewhere(void **state)
{
    (void)state;
    sandbox_write("project/keys",
                  "[default]\naws_access_key_id=AKIDKEYS\naws_secret_access_key=keys-hidden\n",
                  0600);
    sandbox_write("project/config",
                  "[profile p]\naws_access_key_id=AKIDCONF\naws_secret_access_key=conf-hidden\n",
                  0600);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "keys", 1);
    setenv("AWS_CONFIG_FILE", sandbox_path("project/config"), 1);
    check_found("AKIDKEYS", "keys-hidden", NULL, "'keys'");
    setenv("AWS_PROFILE", "p", 1);
    check_found("AKIDCONF", "conf-hidden", NULL, "/project/config'");
    setenv("AWS_CONFIG_FILE", "keys/no/such", 1);
    check_refused("no profile 'p' in 'keys' or 'keys/no/such'");
    setenv("AWS_CONFIG_FILE", sandbox_path("project"), 1);
    check_refused("cannot read '/");
}

static void test_a_file_that_anyone_writes(void **state)
{
    (void)state;
    sandbox_write(CREDENTIALS, "[default]\ncredential_process=touch ran\n", 0666);
    check_refused("chmod 600");
    assert_int_equal(access("ran", F_OK), -1);
}

/* What is written down anew, by a tool that signs in, is found. */
static void test_a_file_that_changes(void **state)
{
    (void)state;
    struct aws_credentials found = {0};
    struct error error = ERROR_INIT;
    sandbox_write(CREDENTIALS,
                  "[default]\naws_access_key_id=OLD\naws_secret_access_key=old-hidden\n", 0600);
    assert_true(aws_credentials_find(&found, &error));
    assert_string_equal(found.access_key_id, "OLD");
    sandbox_write(CREDENTIALS,
                  "[default]\naws_access_key_id=NEW\naws_secret_access_key=new-hidden\n", 0600);
    assert_true(aws_credentials_find(&found, &error));
    assert_string_equal(found.access_key_id, "NEW");
    aws_credentials_release(&found);
}

static void test_nothing(void **state)
{
    (void)state;
    check_refused("set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    check_refused("/home/.aws/credentials'");
    unsetenv("HOME");
    check_refused("no keys for Amazon");
}

static void test_other_ways_to_sign_in(void **state)
{
    (void)state;
    sandbox_write(CONFIG,
                  "[default]\nsso_session = corp\nregion = us-east-1\n"
                  "[sso-session corp]\nsso_start_url = https://x\n"
                  "[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\n",
                  0600);
    check_refused("profile 'default' signs in by 'sso_session'");
    setenv("AWS_PROFILE", "role", 1);
    check_refused("aws configure export-credentials --profile role --format env");
}

/* ---- a command ---- */

static void write_process(const char *printed)
{
    char config[1024];
    sandbox_write("project/printed", printed, 0600);
    snprintf(config, sizeof(config),
             "[default]\nregion=x\ncredential_process = echo run >> runs; cat \"printed\"\n");
    sandbox_write(CONFIG, config, 0600);
}

static size_t count_runs(void)
{
    char line[16];
    size_t count = 0;
    FILE *file = fopen("runs", "re");
    while (file && fgets(line, sizeof(line), file))
        count++;
    if (file)
        fclose(file);
    return count;
}

static void test_process(void **state)
{
    (void)state;
    write_process("{\"Version\": 1, \"AccessKeyId\": \"AKIDPROC\", \"SecretAccessKey\": "
                  "\"proc-hidden\", \"SessionToken\": \"proc-token\"}\n");
    check_found("AKIDPROC", "proc-hidden", "proc-token", "'credential_process' of profile");
    write_process("{\"Version\": 1, \"AccessKeyId\": \"AKIDPROC\", \"SecretAccessKey\": "
                  "\"proc-hidden\"}");
    check_found("AKIDPROC", "proc-hidden", NULL, "/home/.aws/config'");
}

static void test_a_process_that_fails(void **state)
{
    (void)state;
    static const char *const printed[] = {
        "",
        "hidden",
        "{\"hidden",
        "[\"hidden\"]",
        "{\"Version\": 2, \"AccessKeyId\": \"hidden\", \"SecretAccessKey\": \"hidden\"}",
        "{\"Version\": 1, \"AccessKeyId\": \"hidden\"}",
        "{\"Version\": 1, \"AccessKeyId\": \"\", \"SecretAccessKey\": \"hidden\"}",
        "{\"Version\": 1, \"AccessKeyId\": 7, \"SecretAccessKey\": \"hidden\"}",
    };
    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
        write_process(printed[i]);
        check_refused("printed no JSON object with 'Version' 1");
    }
    write_process("{\"Version\": 1, \"AccessKeyId\": \"hidden\", \"SecretAccessKey\": \"hidden\", "
                  "\"Expiration\": \"soon\"}");
    check_refused("an 'Expiration' that is no date");
    sandbox_write(CONFIG, "[default]\ncredential_process = echo hidden; exit 3\n", 0600);
    struct aws_credentials found = {0};
    struct error error = ERROR_INIT;
    assert_false(aws_credentials_find(&found, &error));
    assert_non_null(strstr(error.message, "failed (status 3)"));
}

/* It runs again when what it printed is about to be worthless, and not before. */
static void test_expiration(void **state)
{
    (void)state;
    static const struct {
        long after_s;
        const char *zone;
        long zone_s;
        size_t runs;
    } cases[] = {
        {3600, "Z", 0, 1},         {60, "Z", 0, 2},
        {-3600, "Z", 0, 2},        {3600, ".123Z", 0, 1},
        {3600, "+02:00", 7200, 1}, {60, "+02:00", 7200, 2},
        {60, "-0730", -27000, 2},  {3600, "-0730", -27000, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct aws_credentials found = {0};
        struct error error = ERROR_INIT;
        char date[32], printed[256];
        time_t when = time(NULL) + cases[i].after_s + cases[i].zone_s;
        struct tm local;
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", gmtime_r(&when, &local));
        snprintf(printed, sizeof(printed),
                 "{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hidden-b\","
                 "\"Expiration\":\"%s%s\"}",
                 date, cases[i].zone);
        write_process(printed);
        unlink("runs");
        assert_true(aws_credentials_find(&found, &error));
        assert_true(aws_credentials_find(&found, &error));
        assert_int_equal(count_runs(), cases[i].runs);
        aws_credentials_release(&found);
    }
}

/* Without an expiration it runs once. */
static void test_a_process_runs_once(void **state)
{
    (void)state;
    struct aws_credentials found = {0};
    struct error error = ERROR_INIT;
    write_process("{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hidden-b\"}");
    assert_true(aws_credentials_find(&found, &error));
    assert_true(aws_credentials_find(&found, &error));
    assert_int_equal(count_runs(), 1);
    aws_credentials_release(&found);
}

/* ---- region ---- */

static void check_region(const char *expected)
{
    struct text region = TEXT_INIT;
    struct error error = ERROR_INIT;
    if (!aws_region_find(&region, &error))
        fail_msg("%s", error.message);
    assert_string_equal(region.data, expected);
    text_release(&region);
}

static void check_no_region(const char *part)
{
    struct text region = TEXT_INIT;
    struct error error = ERROR_INIT;
    assert_false(aws_region_find(&region, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    if (!strstr(error.message, part))
        fail_msg("'%s' is not in: %s", part, error.message);
    text_release(&region);
}

static void test_region(void **state)
{
    (void)state;
    check_no_region("set AWS_REGION, such as us-east-1");
    sandbox_write(CONFIG,
                  "[default]\nregion = eu-west-1\n[profile work]\nregion = ap-south-1\n"
                  "[work]\nregion = wrong-1\n[profile evil]\nregion = x.evil.example/\n",
                  0600);
    check_region("eu-west-1");
    setenv("AWS_PROFILE", "work", 1);
    check_region("ap-south-1");
    setenv("AWS_PROFILE", "nobody", 1);
    check_no_region("'region' of profile 'nobody' in '/");
    setenv("AWS_PROFILE", "evil", 1);
    check_no_region("'x.evil.example/' is no region");
    setenv("AWS_DEFAULT_REGION", "us-west-2", 1);
    check_region("us-west-2");
    setenv("AWS_REGION", "us-gov-east-1", 1);
    check_region("us-gov-east-1");
    setenv("AWS_REGION", "us-east-1 ", 1);
    check_no_region("is no region");
    setenv("AWS_REGION", "a-region-that-is-far-too-long-to-be-one", 1);
    check_no_region("is no region");
}

/* ---- memory ---- */

static void check_no_memory(void)
{
    bool failed = true;
    int allowed = 0;
    for (; failed; allowed++) {
        struct aws_credentials found = {0};
        struct text region = TEXT_INIT;
        struct error error = ERROR_INIT;
        fail_after(allowed);
        bool ok = aws_credentials_find(&found, &error) && aws_region_find(&region, &error);
        failed = fail_never();
        if (ok == failed)
            fail_msg("after %d allocations: %s", allowed, error.message);
        assert_int_equal(error.kind, failed ? ERROR_INTERNAL : ERROR_NONE);
        aws_credentials_release(&found);
        text_release(&region);
        secret_clear();
    }
    assert_true(allowed > 5);
}

static void test_no_memory(void **state)
{
    (void)state;
    sandbox_write(CREDENTIALS,
                  "[default]\naws_access_key_id=AKID\naws_secret_access_key=hidden\n"
                  "aws_session_token=hidden-token\n",
                  0600);
    sandbox_write(CONFIG, "[default]\nregion=eu-west-1\n", 0600);
    check_no_memory();
    unlink(sandbox_path(CREDENTIALS));
    write_process("{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"hidden-b\"}");
    check_no_memory();
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, enter, sandbox_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_environment),
        IN_SANDBOX(test_files),
        IN_SANDBOX(test_files_elsewhere),
        IN_SANDBOX(test_a_file_that_anyone_writes),
        IN_SANDBOX(test_a_file_that_changes),
        IN_SANDBOX(test_nothing),
        IN_SANDBOX(test_other_ways_to_sign_in),
        IN_SANDBOX(test_process),
        IN_SANDBOX(test_a_process_that_fails),
        IN_SANDBOX(test_expiration),
        IN_SANDBOX(test_a_process_runs_once),
        IN_SANDBOX(test_region),
        IN_SANDBOX(test_no_memory),
    };
    sandbox_hook_json();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
