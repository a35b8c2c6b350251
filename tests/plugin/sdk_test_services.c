/* mortise/test.h, services: as mortise/services.h says, in memory. */
#include <mortise/test.h>

#include "sdk_forked.h"

#include <mortise/tool.h>

#include <inttypes.h>
#include <stdlib.h>

/* ---- a plugin: one tool for each service, which does what `act` says ---- */

MORTISE_TOOL(file, 0, "Files.", (string, act, "What.", required), (string, name, "Name."),
    (integer, whose, "Whose."));

static mortise_status file(mortise_call *call, const file_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    const mortise_artifact *artifact, *const *all;
    mortise_owner whose = (mortise_owner)args->whose;
    uint32_t version = 0;
    size_t count;
    if (!artifacts)
        return mortise_fail(call, "files cannot be kept here");
    if (strcmp(args->act, "save") == 0) {
        mortise_status status =
            artifacts->save(call, whose, args->name, "text/plain", "abc", 3, &version);
        return status == MORTISE_OK ? mortise_reply(call, "%u", version) : status;
    }
    if (strcmp(args->act, "load") == 0) {
        mortise_status status = artifacts->load(call, whose, args->name, 0, &artifact);
        if (status == MORTISE_NOT_FOUND)
            return mortise_reply(call, "none%s", artifact ? "?" : "");
        return status == MORTISE_OK
                   ? mortise_reply(call, "%u %s %.*s", artifact->version, artifact->mime_type,
                                   (int)artifact->length, (const char *)artifact->data)
                   : status;
    }
    if (strcmp(args->act, "first") == 0) {
        artifacts->load(call, whose, args->name, 1, &artifact);
        return mortise_reply(call, "%u", artifact ? artifact->version : 0);
    }
    artifacts->list(call, whose, &all, &count);
    return mortise_reply(call, "%zu %s %s %u", count, count > 0 ? all[0]->name : "",
                         count > 1 ? all[1]->name : "", count > 0 ? all[0]->version : 0);
}

MORTISE_TOOL(recall, 0, "Memory.", (string, act, "What.", required), (string, text, "Text."),
    (integer, id, "Which."));

static mortise_status recall(mortise_call *call, const recall_args *args)
{
    const mortise_memory *memory = mortise_memory_of(call);
    const mortise_memory_entry *const *entries;
    int64_t id = 0;
    size_t count;
    if (!memory)
        return mortise_fail(call, "there is no memory");
    if (strcmp(args->act, "add") == 0) {
        memory->add(call, args->text, strlen(args->text), &id);
        return mortise_reply(call, "%" PRId64, id);
    }
    if (strcmp(args->act, "forget") == 0)
        return mortise_reply(call, "%d", memory->forget(call, args->id));
    memory->search(call, args->text, 2, &entries, &count);
    return mortise_reply(call, "%zu %s", count, count > 0 ? entries[0]->text : "");
}

MORTISE_TOOL(store, 0, "State.", (string, act, "What.", required), (string, key, "Key."),
    (string, json, "Value."), (string, expected, "Before."));

static mortise_status store(mortise_call *call, const store_args *args)
{
    const mortise_state_service *state = mortise_state_of(call);
    const char *json, *const *keys;
    size_t count;
    if (!state)
        return mortise_fail(call, "there is no state");
    if (strcmp(args->act, "set") == 0)
        return state->set(call, MORTISE_OF_USER, args->key, args->json);
    if (strcmp(args->act, "replace") == 0)
        return mortise_reply(
            call, "%d",
            state->replace(call, MORTISE_OF_USER, args->key, args->expected, args->json));
    if (strcmp(args->act, "keys") == 0) {
        state->keys(call, MORTISE_OF_USER, "k", &keys, &count);
        return mortise_reply(call, "%zu %s %s", count, count > 0 ? keys[0] : "",
                             count > 1 ? keys[1] : "");
    }
    mortise_status status = state->get(call, MORTISE_OF_USER, args->key, &json);
    return mortise_reply(call, "%d %s", status, json ? json : "none");
}

static bool count_bytes(void *data, const void *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)data += length;
    return *(size_t *)data < 2500;
}

MORTISE_TOOL(fetch, 0, "The web.", (string, url, "Where.", required), (boolean, pieces, "How."),
    (integer, most, "Bytes."));

static mortise_status fetch(mortise_call *call, const fetch_args *args)
{
    const mortise_http *http = mortise_http_of(call);
    mortise_http_response response = {.size = sizeof(response)};
    size_t bytes = 0;
    mortise_http_request request = {
        .size = sizeof(request), .url = args->url, .max_bytes = (size_t)args->most};
    if (!http)
        return mortise_fail(call, "there is no network");
    if (args->pieces) {
        request.received = count_bytes;
        request.received_data = &bytes;
    }
    mortise_status status = http->send(call, &request, &response);
    if (args->pieces)
        return mortise_reply(call, "%d after %zu", status, bytes);
    return status == MORTISE_OK
               ? mortise_reply(call, "%u %s: %s=%s %s", response.status, response.url,
                               response.headers[0].name, response.headers[0].value, response.body)
               : status;
}

static const char *secret;
static const mortise_host *the_host;

static void *services_open(const mortise_host *host)
{
    the_host = host;
    const mortise_secrets *secrets = mortise_secrets_of(host);
    secret = secrets ? secrets->get(host, "token") : NULL;
    return calloc(1, 1);
}

MORTISE_PLUGIN(.name = "services", .tools = MORTISE_TOOLS(file, recall, store, fetch),
               .open = services_open, .close = free);

/* ---- what a test sees ---- */

/* F29: NULL when there is none. */
static int has_none_at_first(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_error(mortise_test_run(test, &file_tool, &(file_args){.act = "save"}),
                       MORTISE_INTERNAL, "cannot be kept here");
    mortise_test_error(mortise_test_run(test, &recall_tool, &(recall_args){.act = "add"}),
                       MORTISE_INTERNAL, "no memory");
    mortise_test_error(mortise_test_run(test, &store_tool, &(store_args){.act = "set"}),
                       MORTISE_INTERNAL, "no state");
    mortise_test_error(mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "http://x"}),
                       MORTISE_INTERNAL, "no network");
    mortise_test_same(secret, NULL);
    return mortise_test_close(test);
}

static const char *files(mortise_test *test, const char *act, const char *name, int64_t whose)
{
    return mortise_test_run(test, &file_tool,
                            &(file_args){.act = act, .name = name, .whose = whose})
        ->text;
}

static int keeps_artifacts(void)
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    mortise_test_context(test, "session", "s-1");
    mortise_test_same(files(test, "load", "b.txt", MORTISE_OF_SESSION), "none");
    mortise_test_same(files(test, "save", "b.txt", MORTISE_OF_SESSION), "1");
    mortise_test_same(files(test, "save", "a.txt", MORTISE_OF_SESSION), "1");
    mortise_test_same(files(test, "save", "a.txt", MORTISE_OF_SESSION), "2");
    mortise_test_same(files(test, "load", "a.txt", MORTISE_OF_SESSION), "2 text/plain abc");
    mortise_test_same(files(test, "first", "a.txt", MORTISE_OF_SESSION), "1");
    mortise_test_same(files(test, "list", "", MORTISE_OF_SESSION), "2 a.txt b.txt 2");
    mortise_test_same(files(test, "list", "", MORTISE_OF_USER), "0   0");
    mortise_test_same(files(test, "save", "u.txt", MORTISE_OF_USER), "1");
    mortise_test_same(files(test, "save", "x.txt", MORTISE_OF_APP), "1");
    mortise_test_context(test, "session", "s-2");
    mortise_test_same(files(test, "list", "", MORTISE_OF_SESSION), "0   0");
    mortise_test_same(files(test, "list", "", MORTISE_OF_USER), "1 u.txt  1");
    mortise_test_context(test, "user", "eve");
    mortise_test_same(files(test, "list", "", MORTISE_OF_USER), "0   0");
    mortise_test_same(files(test, "list", "", MORTISE_OF_APP), "1 x.txt  1");
    mortise_test_context(test, "app", "other");
    mortise_test_same(files(test, "list", "", MORTISE_OF_APP), "0   0");
    char longest[202];
    memset(longest, 'x', 201);
    longest[201] = '\0';
    mortise_test_same(files(test, "save", longest + 1, MORTISE_OF_SESSION), "1");
    const char *const bad[] = {"", ".hidden", "a/b", "a\nb", longest};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        mortise_test_error(
            mortise_test_run(test, &file_tool, &(file_args){.act = "save", .name = bad[i]}),
            MORTISE_INVALID_INPUT, "name");
    return mortise_test_close(test);
}

static const char *memories(mortise_test *test, const char *act, const char *text, int64_t id)
{
    return mortise_test_run(test, &recall_tool, &(recall_args){.act = act, .text = text, .id = id})
        ->text;
}

/* F30: a list, empty when there is none. */
static int remembers(void)
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_MEMORY});
    char id[24];
    mortise_test_same(memories(test, "search", "anything \"at\" all*", 0), "0 ");
    memories(test, "add", "The cat is grey.", 0);
    memories(test, "add", "A dog, a house.", 0);
    snprintf(id, sizeof(id), "%s", memories(test, "add", "The grey house of the dog.", 0));
    mortise_test_same(memories(test, "search", "GREY house dog", 0),
                      "2 The grey house of the dog.");
    mortise_test_same(memories(test, "search", "hous", 0), "0 ");
    mortise_test_same(memories(test, "forget", "", atoll(id)), "0");
    mortise_test_same(memories(test, "forget", "", atoll(id)), "-6"); /* MORTISE_NOT_FOUND */
    mortise_test_same(memories(test, "search", "grey", 0), "1 The cat is grey.");
    mortise_test_context(test, "user", "eve");
    mortise_test_same(memories(test, "search", "grey", 0), "0 ");
    return mortise_test_close(test);
}

static const char *states(mortise_test *test, const store_args *args)
{
    return mortise_test_run(test, &store_tool, args)->text;
}

static int keeps_state(void)
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_STATE});
    mortise_test_same(states(test, &(store_args){.act = "get", .key = "k"}), "-6 none");
    states(test, &(store_args){.act = "set", .key = "k2", .json = "[1, 2]"});
    states(test, &(store_args){.act = "set", .key = "k1", .json = "1"});
    states(test, &(store_args){.act = "set", .key = "k1", .json = "3"});
    states(test, &(store_args){.act = "set", .key = "x", .json = "4"});
    mortise_test_same(states(test, &(store_args){.act = "get", .key = "k2"}), "0 [1, 2]");
    mortise_test_same(states(test, &(store_args){.act = "get", .key = "k1"}), "0 3");
    mortise_test_same(states(test, &(store_args){.act = "keys"}), "2 k1 k2");
    states(test, &(store_args){.act = "set", .key = "k1"});
    mortise_test_same(states(test, &(store_args){.act = "keys"}), "1 k2 ");
    mortise_test_same(states(test, &(store_args){.act = "replace", .key = "k2", .json = "5"}),
                      "-8"); /* MORTISE_CONFLICT: it is there */
    mortise_test_same(
        states(test,
               &(store_args){.act = "replace", .key = "k2", .expected = "[1,2]", .json = "5"}),
        "-8");
    mortise_test_same(
        states(test,
               &(store_args){.act = "replace", .key = "k2", .expected = "[1, 2]", .json = "5"}),
        "0");
    mortise_test_same(states(test, &(store_args){.act = "get", .key = "k2"}), "0 5");
    mortise_test_error(
        mortise_test_run(test, &store_tool,
                         &(store_args){.act = "set", .key = "k", .json = "nonsense"}),
        MORTISE_INVALID_INPUT, "not JSON");
    return mortise_test_close(test);
}

static mortise_status answer(void *data, const mortise_http_request *request,
                             mortise_http_response *response)
{
    static const mortise_http_header headers[] = {{"x-served-by", "the test"}};
    if (strstr(request->url, "nowhere"))
        return MORTISE_FAILED;
    if (strstr(request->url, "why"))
        return response->problem = "it is closed today:", MORTISE_FAILED;
    response->body = data;
    response->headers = headers;
    response->header_count = 1;
    return MORTISE_OK;
}

static int answers_requests(void)
{
    static char body[3000];
    static const char *const secrets[] = {"other", "1", "token", "secret", NULL};
    mortise_test *test = mortise_test_open_with(
        &(mortise_test_setup){.http = answer, .http_data = body, .secrets = secrets});
    snprintf(body, sizeof(body), "hello");
    mortise_test_same(secret, "secret");
    mortise_test_text(mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "https://a/"}),
                      "200 https://a/: x-served-by=the test hello");
    mortise_test_error(
        mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "https://nowhere/"}),
        MORTISE_INTERNAL, "no answer from 'https://nowhere/'");
    mortise_test_error(mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "file:///x"}),
                       MORTISE_INVALID_INPUT, "http");
    mortise_test_error(
        mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "http://a/", .most = 3}),
        MORTISE_INTERNAL, "more than 3 bytes");
    memset(body, 'x', sizeof(body) - 1);
    mortise_test_text(
        mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "http://a/", .pieces = true}),
        "-2 after 2999"); /* MORTISE_CANCELLED: it had enough */
    mortise_test_cancel(test, 0);
    mortise_test_true(
        mortise_test_run(test, &fetch_tool, &(fetch_args){.url = "http://a/"})->status ==
        MORTISE_CANCELLED);
    return mortise_test_close(test);
}

/* ---- outside of a call ---- */

struct heard {
    uint32_t status;
    size_t headers, bytes;
};

static void hear_head(void *data, uint32_t status, const mortise_http_header *headers, size_t count)
{
    struct heard *heard = data;
    mortise_test_true(heard->bytes == 0);
    mortise_test_same(headers[0].value, "the test");
    heard->status = status;
    heard->headers = count;
}

static bool hear_piece(void *data, const void *bytes, size_t length)
{
    struct heard *heard = data;
    (void)bytes;
    heard->bytes += length;
    return true;
}

static mortise_status fetch_url(const char *url, mortise_http_response *response,
                                struct heard *heard, int stop_fd)
{
    const mortise_http *http = mortise_http_outside(the_host);
    mortise_http_request request = {.size = sizeof(request),
                                    .url = url,
                                    .received = heard ? hear_piece : NULL,
                                    .answered = heard ? hear_head : NULL,
                                    .received_data = heard,
                                    .stop_fd = stop_fd};
    *response = (mortise_http_response){.size = sizeof(*response)};
    return http->fetch(the_host, &request, response);
}

static int answers_outside_of_a_call(void)
{
    static char body[3000];
    struct heard heard = {0};
    mortise_http_response response;
    int ends[2];
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_true(!mortise_http_outside(the_host));
    mortise_test_close(test);
    test = mortise_test_open_with(&(mortise_test_setup){.http = answer, .http_data = body});
    const mortise_http *http = mortise_http_outside(the_host);
    memset(body, 'x', sizeof(body) - 1);
    mortise_test_true(fetch_url("http://a/", &response, NULL, 0) == MORTISE_OK);
    mortise_test_true(response.status == 200 && response.body_length == 2999 && !response.problem);
    http->release(the_host, &response);
    http->release(the_host, &response);
    mortise_test_true(!response.body && response.size == sizeof(response));
    mortise_test_true(fetch_url("http://a/", &response, &heard, 0) == MORTISE_OK);
    mortise_test_true(heard.status == 200 && heard.headers == 1 && heard.bytes == 2999);
    mortise_test_true(response.body_length == 0);
    http->release(the_host, &response);
    mortise_test_true(fetch_url("http://why/", &response, NULL, 0) == MORTISE_FAILED);
    mortise_test_same(response.problem, "it is closed today: 'http://why/'");
    http->release(the_host, &response);
    mortise_test_true(pipe(ends) == 0);
    close(ends[1]);
    mortise_test_true(fetch_url("http://a/", &response, NULL, ends[0]) == MORTISE_CANCELLED);
    http->release(the_host, &response);
    return mortise_test_close(test);
}

/* The host would lose that memory. */
static int misses_a_release(void)
{
    static mortise_http_response response; /* remembers it, so that it is no leak */
    static char body[] = "hello";
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.http = answer, .http_data = body});
    mortise_test_true(fetch_url("http://a/", &response, NULL, 0) == MORTISE_OK);
    return mortise_test_close(test);
}

static int counts_changes(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_true(mortise_test_changes(test) == 0);
    mortise_test_true(mortise_changed(the_host) == MORTISE_OK);
    mortise_test_true(mortise_changed(the_host) == MORTISE_OK);
    mortise_test_true(mortise_test_changes(test) == 2);
    mortise_host old = *the_host;
    old.size = offsetof(mortise_host, changed);
    mortise_test_true(mortise_changed(&old) == MORTISE_UNSUPPORTED);
    return mortise_test_close(test);
}

int main(void)
{
    static const struct forked_case cases[] = {
        GOOD(has_none_at_first), GOOD(keeps_artifacts),  GOOD(remembers),
        GOOD(keeps_state),       GOOD(answers_requests),
        GOOD(answers_outside_of_a_call),
        BAD(misses_a_release, "1 answers of fetch() were not released"),
        GOOD(counts_changes),
    };
    return run_forked(cases, sizeof(cases) / sizeof(cases[0]));
}
