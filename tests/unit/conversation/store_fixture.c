#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "unit/conversation/store_fixture.h"

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    if (!fixture)
        return -1;
    log_set_level(LOG_ERROR);
    snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/mortise-store-XXXXXX");
    if (!mkdtemp(fixture->folder))
        return -1;
    snprintf(fixture->path, sizeof(fixture->path), "%s/data/sessions.db", fixture->folder);
    fixture->store = fixture_open(fixture);
    *state = fixture;
    return 0;
}

static void delete(const struct fixture *fixture, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/data/sessions.db%s", fixture->folder, name);
    unlink(path);
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    char data[128];
    store_close(fixture->store);
    delete(fixture, "");
    delete(fixture, "-wal");
    delete(fixture, "-shm");
    delete(fixture, "-lock");
    snprintf(data, sizeof(data), "%s/data", fixture->folder);
    rmdir(data);
    rmdir(fixture->folder);
    free(fixture);
    return 0;
}

struct store *fixture_open(const struct fixture *fixture)
{
    struct error error = ERROR_INIT;
    struct store *store = store_sqlite_open(fixture->path, true, &error);
    if (!store)
        fail_msg("%s", error.message);
    return store;
}

void fixture_session(struct store *store, const char *id)
{
    static char title[] = "", model[] = "anthropic/m", cwd[] = "/work";
    struct error error = ERROR_INIT;
    char copy[64];
    snprintf(copy, sizeof(copy), "%s", id);
    struct session session = {.id = copy, .title = title, .model = model, .cwd = cwd};
    if (!store->ops->create(store, &session, NULL, 0, NULL, 0, &error))
        fail_msg("%s", error.message);
}

/* ---- items ---- */

static void give_origin(struct item **items, size_t count, const char *model, const char *verbatim)
{
    struct origin *origin = origin_new("anthropic", model);
    assert_non_null(origin);
    origin->item_count = count;
    if (verbatim) {
        origin->verbatim.data = strdup(verbatim);
        origin->verbatim.length = strlen(verbatim);
    }
    for (size_t i = 0; i < count; i++)
        items[i]->origin = origin_ref(origin);
    origin_unref(origin);
}

static void attach(struct item *item)
{
    static char png[] = "image/png", name[] = "a \"b\".png", uri[] = "file:///x", none[] = "";
    char data[] = {0, 1, 2, '\xff', '\n', 0, 'z'};
    const struct attachment attachments[] = {
        {.mime_type = png, .name = name, .uri = uri, .data = {data, sizeof(data)}},
        {.mime_type = png, .uri = uri},
        {.mime_type = none, .name = none, .data = {data, 0}},
        {.mime_type = none, .data = {data, 1}},
        {.mime_type = none, .data = {data, 2}},
    };
    for (size_t i = 0; i < sizeof(attachments) / sizeof(*attachments); i++)
        assert_true(item_attach(item, &attachments[i]));
}

void sample_make(struct item *items[SAMPLE_COUNT])
{
    static const char odd[] = "one\ntwo\r\n\xE2\x80\xA8three\0four \"five\" \\ \x01 \xF0\x9F\x98\x80";
    size_t n = 0;
    items[n++] = item_message(ROLE_USER, PART_INPUT_TEXT, odd, sizeof(odd) - 1);
    items[n++] = item_reasoning("I think", 7);
    items[n++] = item_message(ROLE_ASSISTANT, PART_OUTPUT_TEXT, "I ask.", 6);
    items[n++] = item_call("call_1", "greet", "{\"name\":\"Ada\"}", 14, true);
    items[n++] = item_call("call_2", "greet", "{\"name\": ", 9, false);
    items[n++] = item_output("call_1", odd, sizeof(odd) - 1, false);
    items[n++] = item_output("call_2", "", 0, true);
    items[n++] = item_message(ROLE_ASSISTANT, PART_REFUSAL, "No.", 3);
    items[n++] = item_message(ROLE_SYSTEM, PART_INPUT_TEXT, "", 0);
    items[n++] = item_message(ROLE_ASSISTANT, PART_OUTPUT_TEXT, "Well.", 5);
    for (size_t i = 0; i < n; i++)
        assert_non_null(items[i]);
    assert_int_equal(n, SAMPLE_COUNT);
    give_origin(&items[1], 4, "m", "[{\"type\":\"thinking\",\"signature\":\"\xE2\x80\xA8==\"}]");
    give_origin(&items[7], 1, "m", NULL);
    attach(items[5]);
}

void sample_free(struct item *items[SAMPLE_COUNT])
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        item_unref(items[i]);
}

static void assert_same_bytes(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(!a->data, !b->data);
    assert_int_equal(a->length, b->length);
    if (a->data)
        assert_memory_equal(a->data, b->data, a->length);
}

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same_attachments(const struct item *a, const struct item *b)
{
    assert_int_equal(a->attachment_count, b->attachment_count);
    for (size_t i = 0; i < a->attachment_count; i++) {
        assert_same_text(a->attachments[i].mime_type, b->attachments[i].mime_type);
        assert_same_text(a->attachments[i].name, b->attachments[i].name);
        assert_same_text(a->attachments[i].uri, b->attachments[i].uri);
        assert_same_bytes(&a->attachments[i].data, &b->attachments[i].data);
    }
}

static void assert_same_origin(const struct origin *a, const struct origin *b)
{
    assert_int_equal(!a, !b);
    if (!a)
        return;
    assert_string_equal(a->provider, b->provider);
    assert_string_equal(a->model, b->model);
    assert_int_equal(a->item_count, b->item_count);
    assert_same_bytes(&a->verbatim, &b->verbatim);
}

void assert_same_items(struct item *const *items, size_t count, struct item *const *wanted,
                       size_t wanted_count)
{
    assert_int_equal(count, wanted_count);
    for (size_t i = 0; i < count; i++) {
        struct text a = TEXT_INIT, b = TEXT_INIT;
        item_write_json(items[i], &a);
        item_write_json(wanted[i], &b);
        assert_string_equal(text_cstr(&a), text_cstr(&b));
        text_release(&a);
        text_release(&b);
        assert_int_equal(items[i]->arguments_valid, wanted[i]->arguments_valid);
        assert_same_attachments(items[i], wanted[i]);
        assert_same_origin(items[i]->origin, wanted[i]->origin);
        if (i > 0)
            assert_int_equal(items[i]->origin == items[i - 1]->origin,
                             wanted[i]->origin == wanted[i - 1]->origin);
    }
}
