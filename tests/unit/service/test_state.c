#include "inside.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

struct value {
    mortise_owner owner;
    const char *key;
    const char *expected;
    const char *json;
    char read[256];
};

static mortise_status get(mortise_call *call, void *data)
{
    struct value *value = data;
    const char *json = value->key;
    mortise_status status = mortise_state_of(call)->get(call, value->owner, value->key, &json);
    snprintf(value->read, sizeof(value->read), "%s", json ? json : "nothing");
    return status;
}

static mortise_status set(mortise_call *call, void *data)
{
    struct value *value = data;
    return mortise_state_of(call)->set(call, value->owner, value->key, value->json);
}

static mortise_status replace(mortise_call *call, void *data)
{
    struct value *value = data;
    return mortise_state_of(call)->replace(call, value->owner, value->key, value->expected,
                                           value->json);
}

/* "a b c" */
static mortise_status keys(mortise_call *call, void *data)
{
    struct value *value = data;
    const char *const *found;
    size_t count, length = 0;
    mortise_status status =
        mortise_state_of(call)->keys(call, value->owner, value->key, &found, &count);
    value->read[0] = '\0';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(value->read + length, sizeof(value->read) - length, "%s%s",
                                   i ? " " : "", found[i]);
    return status;
}

static void check_set(struct inside *inside, mortise_owner owner, const char *key, const char *json)
{
    struct value value = {.owner = owner, .key = key, .json = json};
    assert_inside(inside, MORTISE_OK, set, &value);
}

static void check_get(struct inside *inside, mortise_owner owner, const char *key, const char *json)
{
    struct value value = {.owner = owner, .key = key};
    assert_inside(inside, json ? MORTISE_OK : MORTISE_NOT_FOUND, get, &value);
    assert_string_equal(value.read, json ? json : "nothing");
}

static void check_replace(struct inside *inside, const char *expected, const char *json,
                          mortise_status wanted)
{
    struct value value = {.owner = MORTISE_OF_USER, .key = "n", .expected = expected, .json = json};
    assert_inside(inside, wanted, replace, &value);
}

static void check_keys(struct inside *inside, const char *prefix, const char *wanted)
{
    struct value value = {.owner = MORTISE_OF_USER, .key = prefix};
    assert_inside(inside, MORTISE_OK, keys, &value);
    assert_string_equal(value.read, wanted);
}

static void values_stay(void **state) /* R2, F31 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    check_set(&inside, MORTISE_OF_SESSION, "k", "{\"a\": [1, \"\xC3\xA4\"]}");
    check_set(&inside, MORTISE_OF_USER, "k", "\"user\"");
    check_set(&inside, MORTISE_OF_APP, "k", "1");
    check_set(&inside, MORTISE_OF_APP, "k", "2");
    inside_reopen(&inside);
    check_get(&inside, MORTISE_OF_SESSION, "k", "{\"a\": [1, \"\xC3\xA4\"]}");
    check_get(&inside, MORTISE_OF_USER, "k", "\"user\"");
    check_get(&inside, MORTISE_OF_APP, "k", "2");
    check_set(&inside, MORTISE_OF_APP, "k", NULL);
    check_set(&inside, MORTISE_OF_APP, "k", NULL);
    check_get(&inside, MORTISE_OF_APP, "k", NULL);
    inside_close(&inside);
}

static void everybody_has_his_own(void **state) /* R2 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "one";
    check_set(&inside, MORTISE_OF_SESSION, "k", "1");
    check_set(&inside, MORTISE_OF_USER, "k", "2");
    check_set(&inside, MORTISE_OF_APP, "k", "3");
    inside.plugin = "beta"; /* each plugin's own */
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    check_get(&inside, MORTISE_OF_USER, "k", NULL);
    check_get(&inside, MORTISE_OF_APP, "k", NULL);
    inside.plugin = "alpha";
    inside.context.session = "two";
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    check_get(&inside, MORTISE_OF_USER, "k", "2");
    inside.context.tenant = "acme";
    check_get(&inside, MORTISE_OF_USER, "k", NULL);
    inside.context.tenant = NULL;
    inside.context.user = NULL; /* "anonymous" */
    check_get(&inside, MORTISE_OF_USER, "k", NULL);
    check_get(&inside, MORTISE_OF_APP, "k", "3");
    inside.context.agent = "other";
    check_get(&inside, MORTISE_OF_APP, "k", NULL);
    inside_close(&inside);
}

static void a_run_without_session_leaves_nothing(void **state)
{
    struct inside inside;
    struct stat status;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.invocation = "run_1";
    check_set(&inside, MORTISE_OF_SESSION, "k", "1");
    check_get(&inside, MORTISE_OF_SESSION, "k", "1");
    inside.context.invocation = "run_2";
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    assert_int_not_equal(stat(inside.database, &status), 0); /* not even a file */
    inside.context.invocation = "run_1";
    inside_reopen(&inside);
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    inside_close(&inside);
}

static void a_session_takes_its_state_along(void **state)
{
    struct inside inside;
    bool any;
    struct error error = ERROR_INIT;
    (void)state;
    inside_open(&inside, NULL);
    const struct services_settings places = {.database = inside.database};
    assert_true(services_forget_session(&places, "one", &any, &error));
    assert_false(any);
    inside.context.session = "one";
    check_set(&inside, MORTISE_OF_SESSION, "k", "1");
    check_set(&inside, MORTISE_OF_USER, "k", "2");
    if (!services_forget_session(&places, "one", &any, &error))
        fail_msg("%s", error.message);
    assert_true(any);
    check_get(&inside, MORTISE_OF_SESSION, "k", NULL);
    check_get(&inside, MORTISE_OF_USER, "k", "2");
    inside_close(&inside);
}

static void only_what_is_expected_is_replaced(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    check_replace(&inside, "1", "2", MORTISE_CONFLICT);
    check_replace(&inside, "1", NULL, MORTISE_CONFLICT);
    check_replace(&inside, NULL, NULL, MORTISE_OK);
    check_replace(&inside, NULL, "1", MORTISE_OK);
    check_replace(&inside, NULL, "1", MORTISE_CONFLICT);
    check_replace(&inside, NULL, NULL, MORTISE_CONFLICT);
    check_replace(&inside, "1 ", "2", MORTISE_CONFLICT); /* to the byte */
    check_replace(&inside, "1", "2", MORTISE_OK);
    check_get(&inside, MORTISE_OF_USER, "n", "2");
    check_replace(&inside, "1", NULL, MORTISE_CONFLICT);
    check_replace(&inside, "2", NULL, MORTISE_OK);
    check_get(&inside, MORTISE_OF_USER, "n", NULL);
    inside_close(&inside);
}

static void keys_are_sorted(void **state)
{
    struct inside inside;
    static const char *const names[] = {"b/2", "a", "b/10", "b", "b/\xE3\x81\x82", "c", "%", "b_"};
    (void)state;
    inside_open(&inside, NULL);
    check_keys(&inside, "", "");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        check_set(&inside, MORTISE_OF_USER, names[i], "0");
    check_keys(&inside, "", "% a b b/10 b/2 b/\xE3\x81\x82 b_ c");
    check_keys(&inside, "b/", "b/10 b/2 b/\xE3\x81\x82");
    check_keys(&inside, "%", "%"); /* no pattern */
    check_keys(&inside, "zz", "");
    check_keys(&inside, NULL, "% a b b/10 b/2 b/\xE3\x81\x82 b_ c");
    inside_close(&inside);
}

static void check_refused(struct inside *inside, const char *key, const char *json, const char *why)
{
    struct value value = {.owner = MORTISE_OF_USER, .key = key, .json = json};
    assert_inside(inside, MORTISE_INVALID, set, &value);
    assert_string_equal(inside->category, "invalid_input");
    assert_non_null(strstr(inside->said, why));
}

static void limits_are_told(void **state)
{
    struct inside inside;
    char key[202];
    char *json = malloc(MORTISE_STATE_MAX + 2);
    (void)state;
    inside_open(&inside, NULL);
    memset(key, 'k', 201);
    key[201] = '\0';
    check_refused(&inside, key, "1", "a key is 1 to 200 bytes");
    check_refused(&inside, "", "1", "a key is 1 to 200 bytes");
    check_refused(&inside, NULL, "1", "a key is 1 to 200 bytes");
    check_refused(&inside, "\xFF", "1", "a key is 1 to 200 bytes");
    check_refused(&inside, "k", "{'a': 1}", "the value of 'k' is not valid JSON");
    check_refused(&inside, "k", "", "the value of 'k' is not valid JSON");
    memset(json, '1', MORTISE_STATE_MAX + 1);
    json[MORTISE_STATE_MAX + 1] = '\0';
    check_refused(&inside, "k", json, "the value of 'k' is larger than 1048576 bytes");
    json[MORTISE_STATE_MAX] = '\0';
    key[200] = '\0';
    check_set(&inside, MORTISE_OF_USER, key, json);
    struct value value = {.owner = 7, .key = "k", .json = "1"};
    assert_inside(&inside, MORTISE_INVALID, set, &value);
    inside_close(&inside);
    free(json);
}

static mortise_status count_up(mortise_call *call, void *data)
{
    const mortise_state_service *service = mortise_state_of(call);
    const char *json;
    char next[16];
    mortise_status status;
    (void)data;
    do {
        status = service->get(call, MORTISE_OF_USER, "n", &json);
        if (status != MORTISE_OK && status != MORTISE_NOT_FOUND)
            return status;
        snprintf(next, sizeof(next), "%d", json ? atoi(json) + 1 : 1);
        status = service->replace(call, MORTISE_OF_USER, "n", json, next);
    } while (status == MORTISE_CONFLICT);
    return status;
}

static void *count_to_ten(void *data)
{
    struct inside inside = *(struct inside *)data;
    for (int i = 0; i < 10; i++)
        if (inside_call(&inside, count_up, NULL) != MORTISE_OK)
            return data;
    return NULL;
}

static void nothing_is_lost_between_threads(void **state) /* F31 */
{
    struct inside inside;
    pthread_t threads[4];
    void *failed;
    (void)state;
    inside_open(&inside, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, count_to_ten, &inside);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    check_get(&inside, MORTISE_OF_USER, "n", "40");
    inside_close(&inside);
}

static void a_broken_file_is_told(void **state)
{
    struct inside inside;
    char command[400];
    struct value value = {.owner = MORTISE_OF_USER, .key = "k", .json = "1"};
    (void)state;
    inside_open(&inside, NULL);
    snprintf(command, sizeof(command),
             "mkdir '%s/state' && head -c 4096 /dev/zero | tr '\\0' x > '%s'", inside.folder,
             inside.database);
    assert_int_equal(system(command), 0);
    chmod(inside.database, 0600);
    assert_inside(&inside, MORTISE_FAILED, set, &value);
    assert_non_null(strstr(inside.said, "state.internal: plugin data '"));
    assert_non_null(strstr(inside.said, "file is not a database"));
    unlink(inside.database); /* and it is tried again */
    assert_inside(&inside, MORTISE_OK, set, &value);
    inside_close(&inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stay),
        cmocka_unit_test(everybody_has_his_own),
        cmocka_unit_test(a_run_without_session_leaves_nothing),
        cmocka_unit_test(a_session_takes_its_state_along),
        cmocka_unit_test(only_what_is_expected_is_replaced),
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(nothing_is_lost_between_threads),
        cmocka_unit_test(a_broken_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
