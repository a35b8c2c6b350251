#include <mortise/test.h>

#include "memory.c"

static void remembers_and_finds(void) /* F30 */
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_MEMORY});
    mortise_test_contains(mortise_test_run(test, &memory_add_tool,
                                           &(memory_add_args){.text = "The \"dog\" is Rex.\x01"})
                              ->text,
                          "{\"id\":");
    mortise_test_run(test, &memory_add_tool, &(memory_add_args){.text = "Tea is in the tin."});
    const mortise_test_result *found = mortise_test_run(
        test, &memory_search_tool, &(memory_search_args){.query = "dog", .limit = 5});
    mortise_test_true(found->is_json);
    mortise_test_contains(found->text, "\"text\":\"The \\\"dog\\\" is Rex.\\u0001\"}]");
    mortise_test_contains(found->text, "\"saved\":\"2");
    mortise_test_json(mortise_test_run(test, &memory_search_tool,
                                       &(memory_search_args){.query = "zebra", .limit = 5}),
                      "[]");
    mortise_test_close(test);
}

/* A list that the host would have to shorten is no JSON. */
static void shows_as_many_as_fit(void)
{
    char text[15001];
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_MEMORY});
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text, "dog ", 4);
    for (int i = 0; i < 5; i++)
        mortise_test_run(test, &memory_add_tool, &(memory_add_args){.text = text});
    const mortise_test_result *found = mortise_test_run(
        test, &memory_search_tool, &(memory_search_args){.query = "dog", .limit = 5});
    mortise_test_true(found->is_json && found->length > 45000 && found->length < 48 << 10);
    mortise_test_close(test);
}

static void tells_that_there_is_no_place(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_error(mortise_test_run(test, &memory_add_tool, &(memory_add_args){.text = "x"}),
                       MORTISE_INTERNAL, "nothing can be remembered");
    mortise_test_error(mortise_test_run(test, &memory_search_tool,
                                        &(memory_search_args){.query = "x", .limit = 1}),
                       MORTISE_INTERNAL, "nothing can be remembered");
    mortise_test_close(test);
}

int main(void)
{
    remembers_and_finds();
    shows_as_many_as_fit();
    tells_that_there_is_no_place();
    return mortise_test_status();
}
