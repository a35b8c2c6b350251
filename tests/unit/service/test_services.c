#include "inside.h"

#include <unistd.h>

#include "base/secret.h"

static const char *const ids[] = {MORTISE_ARTIFACTS_ID, MORTISE_MEMORY_ID, MORTISE_STATE_ID,
                                  MORTISE_SECRETS_ID, MORTISE_HTTP_ID};
enum { ID_COUNT = sizeof(ids) / sizeof(*ids) };

/* ---- finding ---- */

static mortise_status compare_tables(mortise_call *call, void *data)
{
    const mortise_host *host = data;
    for (size_t i = 0; i < ID_COUNT; i++) {
        assert_non_null(mortise_service(call, ids[i]));
        assert_ptr_equal(mortise_service(call, ids[i]), host->service(host, ids[i]));
    }
    assert_null(mortise_service(call, "mortise.artifacts/2"));
    assert_null(mortise_service(call, ""));
    assert_null(mortise_service(call, NULL));
    assert_null(host->service(host, NULL));
    return MORTISE_OK;
}

static void a_call_and_a_host_give_the_same(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    const mortise_host *host = inside_host(&inside, "alpha");
    assert_inside(&inside, MORTISE_OK, compare_tables, (void *)(uintptr_t)host);
    inside_close(&inside);
}

static void without_a_place_they_are_null(void **state) /* F29, F30, F59 */
{
    static const struct services_settings nowhere = {.artifacts = "", .database = NULL};
    struct services *services = services_new(&nowhere);
    struct host_api *api = host_api_new("x", strdup("{}"), services_face(services));
    const mortise_host *host = host_api_face(api);
    (void)state;
    services_unref(services); /* the plugin's reference is enough */
    assert_null(host->service(host, MORTISE_ARTIFACTS_ID));
    assert_null(host->service(host, MORTISE_MEMORY_ID));
    assert_null(host->service(host, MORTISE_STATE_ID));
    assert_non_null(host->service(host, MORTISE_SECRETS_ID));
    assert_non_null(host->service(host, MORTISE_HTTP_ID));
    assert_null(mortise_secrets_of(host)->get(host, "key"));
    host_api_free(api);
}

/* ---- who calls ---- */

static mortise_status tell_caller(mortise_call *call, void *data)
{
    static const char *const keys[] = {"user", "tenant", "session", "agent"};
    char *told = data;
    size_t length = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *value = call->ops->context(call, keys[i]);
        length += (size_t)snprintf(told + length, 200 - length, "%s ", value ? value : "-");
    }
    return MORTISE_OK;
}

static mortise_status tell_ids(mortise_call *call, void *data)
{
    snprintf(data, 200, "%s %s", call->ops->context(call, "invocation"),
             call->ops->context(call, "call"));
    return MORTISE_OK;
}

static void a_call_knows_its_caller(void **state) /* F26-F28, R2, F59 */
{
    struct inside inside;
    char told[200];
    (void)state;
    inside_open(&inside, NULL);
    inside.context =
        (struct call_context){.user = "ada", .tenant = "acme", .session = "trip", .agent = "guide"};
    assert_inside(&inside, MORTISE_OK, tell_caller, told);
    assert_string_equal(told, "ada acme trip guide ");
    inside.context = (struct call_context){0};
    assert_inside(&inside, MORTISE_OK, tell_caller, told);
    assert_string_equal(told, "anonymous - - - ");
    inside_close(&inside);
}

static void ids_are_made_for_each(void **state) /* F60, F61 */
{
    struct inside inside;
    char one[200], other[200];
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_OK, tell_ids, one);
    assert_inside(&inside, MORTISE_OK, tell_ids, other);
    assert_string_not_equal(one, other);
    inside.context.invocation = "run_1";
    assert_inside(&inside, MORTISE_OK, tell_ids, one);
    assert_memory_equal(one, "run_1 ", 6);
    inside_close(&inside);
}

/* ---- calls that are none ---- */

static const char *say_bob(mortise_call *call, const char *key)
{
    (void)call;
    return strcmp(key, "user") == 0 ? "bob" : "trip";
}

static void refuse_all(mortise_call *forged, mortise_call *real)
{
    const mortise_artifact *artifact;
    const mortise_artifact *const *artifacts;
    const mortise_memory_entry *const *entries;
    const char *json;
    const char *const *keys;
    size_t count;
    const mortise_artifacts *files = mortise_artifacts_of(real);
    const mortise_memory *memory = mortise_memory_of(real);
    const mortise_state_service *states = mortise_state_of(real);
    mortise_http_request request = {.size = sizeof(request), .url = "http://127.0.0.1:1/"};
    mortise_http_response response = {.size = sizeof(response)};
    assert_int_equal(files->save(forged, 0, "x", "a/b", "x", 1, NULL), MORTISE_INVALID);
    assert_int_equal(files->load(forged, 0, "x", 0, &artifact), MORTISE_INVALID);
    assert_int_equal(files->list(forged, 0, &artifacts, &count), MORTISE_INVALID);
    assert_int_equal(memory->add(forged, "x", 1, NULL), MORTISE_INVALID);
    assert_int_equal(memory->search(forged, "x", 1, &entries, &count), MORTISE_INVALID);
    assert_int_equal(memory->forget(forged, 1), MORTISE_INVALID);
    assert_int_equal(states->get(forged, 0, "x", &json), MORTISE_INVALID);
    assert_int_equal(states->set(forged, 0, "x", "1"), MORTISE_INVALID);
    assert_int_equal(states->replace(forged, 0, "x", NULL, "1"), MORTISE_INVALID);
    assert_int_equal(states->keys(forged, 0, "", &keys, &count), MORTISE_INVALID);
    assert_int_equal(mortise_http_of(real)->send(forged, &request, &response), MORTISE_INVALID);
}

static mortise_status forge(mortise_call *call, void *data)
{
    mortise_call_ops ops = *call->ops;
    mortise_call forged = {.size = sizeof(forged), .ops = &ops, .tool = call->tool};
    (void)data;
    ops.context = say_bob;
    refuse_all(&forged, call);
    refuse_all(NULL, call);
    return MORTISE_OK;
}

/* Whoever makes up a call could make up its user. */
static void a_forged_call_is_refused(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_OK, forge, NULL);
    assert_int_not_equal(access(inside.database, F_OK), 0);
    inside_close(&inside);
}

static mortise_status finish_early(mortise_call *call, void *data)
{
    const mortise_state_service *states = mortise_state_of(call);
    (void)data;
    call->ops->finish(call, MORTISE_OK);
    assert_int_equal(states->set(call, MORTISE_OF_USER, "k", "1"), MORTISE_INVALID);
    assert_null(mortise_service(call, MORTISE_STATE_ID));
    return MORTISE_OK;
}

static void a_call_that_is_over_is_refused(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_OK, finish_early, NULL);
    inside_close(&inside);
}

/* ---- secrets ---- */

static const char *get(const struct inside *inside, const char *plugin, const char *name)
{
    const mortise_host *host = inside_host(inside, plugin);
    return mortise_secrets_of(host)->get(host, name);
}

static void assert_is_hidden(const char *value)
{
    struct text text = TEXT_INIT;
    text_printf(&text, "the value is %s!", value);
    secret_redact(&text);
    assert_string_equal(text.data, "the value is [redacted]!");
    text_release(&text);
}

static void only_what_is_granted_is_given(void **state)
{
    struct inside inside;
    (void)state;
    setenv("SERVICES_TEST_KEY", "k-0123456789", 1);
    inside_open(&inside, "{\"alpha\":{\"key\":{\"env\":\"SERVICES_TEST_KEY\"},"
                         "\"said\":{\"command\":\"echo s-0123456789\"}}}");
    assert_string_equal(get(&inside, "alpha", "key"), "k-0123456789");
    assert_is_hidden("k-0123456789");
    assert_string_equal(get(&inside, "alpha", "said"), "s-0123456789");
    assert_is_hidden("s-0123456789");
    assert_null(get(&inside, "beta", "key")); /* another's */
    assert_null(get(&inside, "alpha", "other"));
    assert_null(get(&inside, "alpha", ""));
    assert_null(get(&inside, "alpha", NULL));
    inside_close(&inside);
    secret_clear();
}

/* Until the plugin is loaded again. */
static void a_secret_is_read_once(void **state)
{
    struct inside inside;
    char file[] = "/tmp/services_test.XXXXXX", grants[200];
    (void)state;
    close(mkstemp(file));
    snprintf(grants, sizeof(grants),
             "{\"alpha\":{\"n\":{\"command\":\"echo x >> '%s'; wc -l < '%s'\"}}}", file, file);
    inside_open(&inside, grants);
    const char *first = get(&inside, "alpha", "n");
    assert_string_equal(first, "1");
    assert_ptr_equal(get(&inside, "alpha", "n"), first);
    struct host_api *again = host_api_new("alpha", strdup("{}"), services_face(inside.services));
    const mortise_host *host = host_api_face(again);
    assert_string_equal(mortise_secrets_of(host)->get(host, "n"), "2");
    host_api_free(again);
    assert_string_equal(get(&inside, "alpha", "n"), "1");
    inside_close(&inside);
    unlink(file);
}

static void what_cannot_be_read_is_not_given(void **state)
{
    struct inside inside;
    (void)state;
    unsetenv("SERVICES_TEST_NONE");
    inside_open(&inside, "{\"alpha\":{\"a\":{\"env\":\"SERVICES_TEST_NONE\"},\"b\":{},\"c\":\"x\","
                         "\"d\":{\"file\":\"/nowhere\"},\"e\":{\"command\":\"exit 3\"}},"
                         "\"beta\":[]}");
    for (const char *name = "abcde"; *name; name++)
        assert_null(get(&inside, "alpha", (const char[]){*name, '\0'}));
    assert_null(get(&inside, "beta", "a"));
    inside_close(&inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_and_a_host_give_the_same),
        cmocka_unit_test(without_a_place_they_are_null),
        cmocka_unit_test(a_call_knows_its_caller),
        cmocka_unit_test(ids_are_made_for_each),
        cmocka_unit_test(a_forged_call_is_refused),
        cmocka_unit_test(a_call_that_is_over_is_refused),
        cmocka_unit_test(only_what_is_granted_is_given),
        cmocka_unit_test(a_secret_is_read_once),
        cmocka_unit_test(what_cannot_be_read_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
