/* W125: Signature Version 4, by Amazon's own test suite ("service") and, where that says nothing,
 * by what its Python library signs ("bedrock"). */
#include "wire_test.h"

#include <string.h>

#include "provider/aws_sign.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEY          "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define SUITE_TIME   1440938160 /* 2015-08-30T12:36:00Z */
#define SUITE_TOKEN                                                                                \
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSP" \
    "fIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT" \
    "7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlz" \
    "m8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
#define HOST               "bedrock-runtime.us-west-2.amazonaws.com"
#define MODEL              "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"
/* Of a key of a hundred times 'k', by Python's hmac. */
#define LONG_KEY_SIGNATURE "c59f491e9c9964a9d6118015e6a0304d0d3bb6ce6521442c266fafb706c010c0"
#define ARN                "arn%3Aaws%3Abedrock%3Aus-west-2%3A123456789012%3Ainference-profile%2F"

static const struct sample {
    const char *name, *method, *host, *path, *content_type, *body, *token, *region, *service;
    const char *headers, *signature;
} samples[] = {
    {"get-vanilla", "GET", "example.amazonaws.com", "/", NULL, "", NULL, "us-east-1", "service",
     "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"post-vanilla", "POST", "example.amazonaws.com", "/", NULL, "", NULL, "us-east-1", "service",
     "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"get-utf8", "GET", "example.amazonaws.com", "/\xE1\x88\xB4", NULL, "", NULL, "us-east-1",
     "service", "host;x-amz-date",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-space", "GET", "example.amazonaws.com", "/example space/", NULL, "", NULL, "us-east-1",
     "service", "host;x-amz-date",
     "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"post-x-www-form-urlencoded", "POST", "example.amazonaws.com", "/",
     "application/x-www-form-urlencoded", "Param1=value1", NULL, "us-east-1", "service",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-x-www-form-urlencoded-parameters", "POST", "example.amazonaws.com", "/",
     "application/x-www-form-urlencoded; charset=utf8", "Param1=value1", NULL, "us-east-1",
     "service", "content-type;host;x-amz-date",
     "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
    {"post-sts-header-before", "POST", "example.amazonaws.com", "/", NULL, "", SUITE_TOKEN,
     "us-east-1", "service", "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    {"a model with a colon", "POST", HOST, "/model/" MODEL "/invoke-with-response-stream",
     "application/json", "{\"max_tokens\":1}", NULL, "us-west-2", "bedrock",
     "content-type;host;x-amz-date",
     "3b2e2a99bae9b7a27ccc122055001fe8888c86010dfb0c28081d5eac13ac78c5"},
    {"a model with a colon, for a session", "POST", HOST,
     "/model/" MODEL "/invoke-with-response-stream", "application/json", "{\"max_tokens\":1}",
     "AQoDYXdzEPT//////////wEXAMPLE==", "us-west-2", "bedrock",
     "content-type;host;x-amz-date;x-amz-security-token",
     "587f02d1d3c04ef6fe7ba5cdf6bdb1102aee3b7120411f8c78b775c414b78081"},
    {"an ARN with colons and slashes", "POST", HOST,
     "/model/" ARN MODEL "/invoke-with-response-stream", "application/json", "{\"max_tokens\":1}",
     NULL, "us-west-2", "bedrock", "content-type;host;x-amz-date",
     "93557b04bc26133d753177ba31214b74e29e5cabb06a5a34d48b99e147db831f"},
};

static bool sign(const struct sample *sample, char date[AWS_DATE_SIZE], struct text *out)
{
    struct aws_signing signing = {
        .access_key_id = "AKIDEXAMPLE",
        .secret_access_key = KEY,
        .session_token = sample->token,
        .region = sample->region,
        .service = sample->service,
        .time = SUITE_TIME,
        .method = sample->method,
        .host = sample->host,
        .path = sample->path,
        .content_type = sample->content_type,
        .body = sample->body,
        .body_length = strlen(sample->body),
    };
    return aws_sign(&signing, date, out);
}

static void test_published_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct text expected = TEXT_INIT, out = TEXT_INIT;
        char date[AWS_DATE_SIZE];
        text_printf(&expected,
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/%s/%s/aws4_request, "
                    "SignedHeaders=%s, Signature=%s",
                    samples[i].region, samples[i].service, samples[i].headers,
                    samples[i].signature);
        assert_true(sign(&samples[i], date, &out));
        assert_string_equal(date, "20150830T123600Z");
        if (strcmp(text_cstr(&out), text_cstr(&expected)) != 0)
            print_error("%s\n", samples[i].name);
        assert_string_equal(text_cstr(&out), text_cstr(&expected));
        text_release(&expected);
        text_release(&out);
    }
}

/* RFC 2104: a key that is longer than a block is hashed first. */
static void test_a_long_key(void **state)
{
    (void)state;
    char key[101];
    char date[AWS_DATE_SIZE];
    struct text out = TEXT_INIT;
    memset(key, 'k', 100);
    key[100] = '\0';
    struct aws_signing signing = {.access_key_id = "AKIDEXAMPLE",
                                  .secret_access_key = key,
                                  .region = "us-east-1",
                                  .service = "service",
                                  .time = SUITE_TIME,
                                  .method = "GET",
                                  .host = "example.amazonaws.com",
                                  .path = "/",
                                  .body = ""};
    assert_true(aws_sign(&signing, date, &out));
    assert_non_null(strstr(out.data, "Signature=" LONG_KEY_SIGNATURE));
    text_release(&out);
}

static void test_a_time_that_is_no_date(void **state)
{
    (void)state;
    static const time_t times[] = {INT64_MAX, INT64_C(400000000000)}; /* five digits of years */
    for (size_t i = 0; i < COUNT(times); i++) {
        char date[AWS_DATE_SIZE];
        struct text out = TEXT_INIT;
        struct aws_signing signing = {.access_key_id = "A",
                                      .secret_access_key = "B",
                                      .region = "r",
                                      .service = "s",
                                      .time = times[i],
                                      .method = "GET",
                                      .host = "h",
                                      .path = "/",
                                      .body = ""};
        assert_false(aws_sign(&signing, date, &out));
        text_release(&out);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    int allowed = 0;
    for (; failed; allowed++) {
        char date[AWS_DATE_SIZE];
        struct text out = TEXT_INIT;
        fail_after(allowed);
        bool signed_ = sign(&samples[8], date, &out);
        failed = fail_never();
        assert_int_equal(signed_, !failed);
        text_release(&out);
    }
    assert_true(allowed > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_a_long_key),
        cmocka_unit_test(test_a_time_that_is_no_date),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
