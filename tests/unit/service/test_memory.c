#include "inside.h"

#include <pthread.h>

#include "service/memory_terms.h"

struct note {
    const char *text;
    size_t length; /* 0: that of the text */
    int64_t id;
    size_t limit;
    double score; /* of the first that was found */
    char found[1024]; /* texts, separated by '|' */
};

static mortise_status add(mortise_call *call, void *data)
{
    struct note *note = data;
    return mortise_memory_of(call)->add(
        call, note->text, note->length ? note->length : strlen(note->text), &note->id);
}

static mortise_status search(mortise_call *call, void *data)
{
    struct note *note = data;
    const mortise_memory_entry *const *entries;
    size_t count, length = 0;
    mortise_status status =
        mortise_memory_of(call)->search(call, note->text, note->limit, &entries, &count);
    note->found[0] = '\0';
    note->score = status == MORTISE_OK && count ? entries[0]->score : 0;
    for (size_t i = 0; status == MORTISE_OK && i < count; i++) {
        assert_true(entries[i]->saved_ms > 1500000000000);
        assert_int_equal(entries[i]->length, strlen(entries[i]->text));
        assert_true(i == 0 || entries[i - 1]->score >= entries[i]->score);
        length += (size_t)snprintf(note->found + length, sizeof(note->found) - length, "%s%s",
                                   i ? "|" : "", entries[i]->text);
    }
    return status;
}

static mortise_status forget(mortise_call *call, void *data)
{
    struct note *note = data;
    return mortise_memory_of(call)->forget(call, note->id);
}

static int64_t remember(struct inside *inside, const char *text)
{
    struct note note = {.text = text};
    assert_inside(inside, MORTISE_OK, add, &note);
    assert_true(note.id > 0);
    return note.id;
}

static void check_found(struct inside *inside, const char *query, const char *wanted)
{
    struct note note = {.text = query, .limit = 10};
    assert_inside(inside, MORTISE_OK, search, &note);
    assert_string_equal(note.found, wanted);
}

static void words_are_found(void **state) /* F30 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    check_found(&inside, "anything", "");
    remember(&inside, "The dog is called Rex.");
    remember(&inside, "Rex likes the park.");
    remember(&inside, "The dentist is on Tuesday.");
    inside_reopen(&inside);
    check_found(&inside, "dog", "The dog is called Rex.");
    check_found(&inside, "DENTIST", "The dentist is on Tuesday.");
    check_found(&inside, "dent", "The dentist is on Tuesday."); /* also a part of a word */
    check_found(&inside, "dog Rex", "The dog is called Rex.|Rex likes the park.");
    check_found(&inside, "cat", "");
    check_found(&inside, "", "");
    check_found(&inside, "  \n", "");
    inside_close(&inside);
}

/* What has most of the words comes first, whatever order they have. */
static void most_of_the_words_are_best(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "red apples and pears");
    remember(&inside, "green apples, red plums and yellow pears");
    remember(&inside, "red, and nothing else");
    check_found(&inside, "pears apples green red",
                "green apples, red plums and yellow pears|red apples and pears");
    check_found(&inside, "red",
                "red apples and pears|red, and nothing else|" /* the shorter first */
                "green apples, red plums and yellow pears");
    inside_close(&inside);
}

static void japanese_is_found(void **state) /* F30 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "東京タワーは夜がきれいです。");
    remember(&inside, "大阪の天気は晴れでした。");
    remember(&inside, "猫の名前はタマ");
    check_found(&inside, "東京", "東京タワーは夜がきれいです。");
    check_found(&inside, "タワー", "東京タワーは夜がきれいです。");
    check_found(&inside, "東京タワー", "東京タワーは夜がきれいです。");
    check_found(&inside, "猫", "猫の名前はタマ");
    check_found(&inside, "私の猫の名前は何ですか？", "猫の名前はタマ");
    check_found(&inside, "明日の大阪の天気を教えてください", "大阪の天気は晴れでした。");
    check_found(&inside, "犬", "");
    inside_close(&inside);
}

static void short_words_are_found(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "Go is a language.");
    remember(&inside, "The algorithm is good.");
    remember(&inside, "C++ and C are others.");
    check_found(&inside, "go", "Go is a language.");
    check_found(&inside, "C", "C++ and C are others.");
    check_found(&inside, "C++", "C++ and C are others.");
    check_found(&inside, "x", "");
    inside_close(&inside);
}

/* F30: nothing in a query is more than text. */
static void any_text_is_a_good_query(void **state)
{
    static const char *const queries[] = {"\"",
                                          "\"\"\"",
                                          "a AND",
                                          "NOT",
                                          "NEAR(a b)",
                                          "text:x",
                                          "*",
                                          "^a",
                                          "{x}: y",
                                          "a OR b)",
                                          "-- ",
                                          "'; DROP TABLE memory; --",
                                          "\xFF\xFE",
                                          "%",
                                          "_",
                                          "\\",
                                          "(((((",
                                          "a\tb\nc",
                                          "\xF0\x9F\x90\xB6"};
    struct inside inside;
    char *long_query = malloc(100001);
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "%");
    remember(&inside, "a dog \xF0\x9F\x90\xB6 and \"quotes\"");
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        struct note note = {.text = queries[i], .limit = 5};
        assert_inside(&inside, MORTISE_OK, search, &note);
    }
    check_found(&inside, "%", "%");
    check_found(&inside, "_", "");
    check_found(&inside, "\xF0\x9F\x90\xB6", "a dog \xF0\x9F\x90\xB6 and \"quotes\"");
    for (int i = 0; i < 100000; i++)
        long_query[i] = "qrstuvwx "[i % 9];
    long_query[100000] = '\0';
    check_found(&inside, long_query, "");
    check_found(&inside, NULL, "");
    inside_close(&inside);
    free(long_query);
}

static void everybody_has_his_own(void **state) /* F30, R2 */
{
    struct inside inside;
    struct note note;
    (void)state;
    inside_open(&inside, NULL);
    note.id = remember(&inside, "ada likes tea");
    inside.plugin = "beta"; /* shared by all plugins */
    check_found(&inside, "likes", "ada likes tea");
    inside.context.user = "bob";
    check_found(&inside, "likes", "");
    check_found(&inside, "te", "");
    assert_inside(&inside, MORTISE_NOT_FOUND, forget, &note);
    remember(&inside, "bob likes tea");
    check_found(&inside, "likes tea", "bob likes tea");
    inside.context.user = "ada";
    inside.context.tenant = "acme";
    check_found(&inside, "likes", "");
    inside.context.tenant = NULL;
    check_found(&inside, "likes", "ada likes tea");
    inside_close(&inside);
}

/* R2: a score tells nothing of what others keep. */
static void others_do_not_show_in_a_score(void **state)
{
    struct inside inside;
    struct note alone = {.text = "secret plan", .limit = 5}, among = alone;
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "a secret plan");
    remember(&inside, "tea");
    assert_inside(&inside, MORTISE_OK, search, &alone);
    inside.context.user = "bob";
    for (int i = 0; i < 20; i++)
        remember(&inside, i % 2 ? "the secret plan of bob" : "nothing of the kind");
    inside.context.user = "ada";
    assert_inside(&inside, MORTISE_OK, search, &among);
    assert_true(alone.score > 0);
    assert_true(alone.score == among.score);
    inside_close(&inside);
}

/* What few of the entries have says more than what most have. */
static void rare_words_are_better(void **state)
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    remember(&inside, "the parrot sings");
    for (int i = 0; i < 5; i++)
        remember(&inside, i % 2 ? "the kettle sings" : "the street sings");
    struct note note = {.text = "parrot sings kettle street", .limit = 1};
    assert_inside(&inside, MORTISE_OK, search, &note);
    assert_string_equal(note.found, "the parrot sings");
    inside_close(&inside);
}

static void what_is_forgotten_is_gone(void **state)
{
    struct inside inside;
    struct note note;
    (void)state;
    inside_open(&inside, NULL);
    note.id = remember(&inside, "the old address");
    remember(&inside, "the new address");
    assert_inside(&inside, MORTISE_OK, forget, &note);
    check_found(&inside, "address", "the new address");
    assert_inside(&inside, MORTISE_NOT_FOUND, forget, &note);
    assert_true(remember(&inside, "another") > note.id + 1);
    inside_close(&inside);
}

static void limits_are_kept(void **state)
{
    struct inside inside;
    char *large = malloc(MORTISE_MEMORY_MAX + 1);
    struct note note = {.text = large, .length = MORTISE_MEMORY_MAX + 1};
    (void)state;
    memset(large, 'x', MORTISE_MEMORY_MAX + 1);
    inside_open(&inside, NULL);
    assert_inside(&inside, MORTISE_INVALID, add, &note);
    assert_string_equal(inside.said,
                        "memory.invalid_input: a text to be remembered has 1 to 65536 bytes");
    note.length = MORTISE_MEMORY_MAX;
    assert_inside(&inside, MORTISE_OK, add, &note);
    note = (struct note){.text = ""};
    assert_inside(&inside, MORTISE_INVALID, add, &note);
    remember(&inside, "one word");
    remember(&inside, "one word more");
    note = (struct note){.text = "one word", .limit = 1};
    assert_inside(&inside, MORTISE_OK, search, &note);
    assert_null(strchr(note.found, '|'));
    note.limit = 0;
    assert_inside(&inside, MORTISE_OK, search, &note);
    assert_string_equal(note.found, "");
    struct note bad = {.text = "bad \xFF bytes\0here", .length = 15};
    assert_inside(&inside, MORTISE_OK, add, &bad);
    check_found(&inside, "bytes", "bad \xEF\xBF\xBD bytes\xEF\xBF\xBDher");
    inside_close(&inside);
    free(large);
}

static void *remember_and_search(void *data)
{
    struct inside inside = *(struct inside *)data;
    for (int i = 0; i < 10; i++) {
        struct note note = {.text = "many words at once", .limit = 100};
        if (inside_call(&inside, add, &note) != MORTISE_OK ||
            inside_call(&inside, search, &note) != MORTISE_OK || !note.found[0])
            return data;
    }
    return NULL;
}

static void threads_share_it(void **state) /* F31 */
{
    struct inside inside;
    pthread_t threads[4];
    void *failed;
    (void)state;
    inside_open(&inside, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, remember_and_search, &inside);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    inside_close(&inside);
}

/* "TERM:WEIGHT …" */
static void check_terms(const char *query, const char *wanted)
{
    struct memory_terms terms;
    char found[512];
    size_t length = 0;
    memory_terms_find(&terms, query, strlen(query));
    found[0] = '\0';
    for (size_t i = 0; i < terms.count; i++)
        length += (size_t)snprintf(found + length, sizeof(found) - length, "%s%.*s:%g",
                                   i ? " " : "", (int)terms.items[i].length, terms.items[i].text,
                                   terms.items[i].weight);
    assert_string_equal(found, wanted);
}

static void queries_become_terms(void **state)
{
    (void)state;
    check_terms("", "");
    check_terms(" \t", "");
    check_terms("the dog, the cat", "the:1 dog:1 cat:1");
    check_terms("is it", "is:0.25 it:0.25");
    check_terms("東京タワーの夜", "東京:1 タワー:1 の:0.1 夜:1");
    check_terms("東京都知事", "東京都:0.333333 京都知:0.333333 都知事:0.333333");
    check_terms("Straße — Größe", "Straße:1 Größe:1");
    check_terms("날씨가 좋아요", "날씨가:1 좋아요:1");
    check_terms(" ?! ", "?!:1");
    check_terms("\xF0\xA0\xAE\xB7", "\xF0\xA0\xAE\xB7:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found),           cmocka_unit_test(most_of_the_words_are_best),
        cmocka_unit_test(japanese_is_found),         cmocka_unit_test(short_words_are_found),
        cmocka_unit_test(any_text_is_a_good_query),  cmocka_unit_test(everybody_has_his_own),
        cmocka_unit_test(others_do_not_show_in_a_score),
        cmocka_unit_test(rare_words_are_better),
        cmocka_unit_test(what_is_forgotten_is_gone), cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(threads_share_it),          cmocka_unit_test(queries_become_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
