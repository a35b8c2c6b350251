/* The schema of a tool as OpenAI and Anthropic take it (FAULTS 115). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "provider/schema_top.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In these, ' stands for ". */
static const struct {
    const char *schema;
    const char *expected; /* NULL: to the letter */
} cases[] = {
    {"", "{'type':'object','properties':{}}"},
    {"oops", "{'type':'object','properties':{}}"},
    {"[]", "{'type':'object','properties':{}}"},
    /* what is an object by itself stays, whatever is below */
    {"{'type':'object','properties':{}}", NULL},
    {"{ 'properties' : {'n':{'anyOf':[{'const':12345678901234567890},{'$ref':'#/$defs/a'}]}},\n"
     "'type':'object', '$defs':{'a':{}}, 'additionalProperties':false }",
     NULL},
    /* what is missing is put in */
    {"{}", "{'type':'object','properties':{}}"},
    {"{'type':'object'}", "{'type':'object','properties':{}}"},
    {"{'type':['object','null'],'properties':{'a':{}}}",
     "{'type':'object','properties':{'a':{}}}"},
    /* alternatives are told as what there may be, required by none */
    {"{'type':'object','properties':{'a':{}},'required':['a'],'oneOf':["
     "{'properties':{'k':{'const':'x'},'b':{}},'required':['b']},"
     "{'properties':{'k':{'const':'y'},'c':{}},'required':['c']}]}",
     "{'type':'object','properties':{'a':{},'k':{'anyOf':[{'const':'x'},{'const':'y'}]},'b':{},"
     "'c':{}},'required':['a']}"},
    {"{'type':'object','anyOf':[{'$ref':'#/$defs/p'},{'properties':{'b':{}}}],"
     "'$defs':{'p':{'properties':{'a':{}},'required':['a']}}}",
     "{'type':'object','$defs':{'p':{'properties':{'a':{}},'required':['a']}},"
     "'properties':{'a':{},'b':{}}}"},
    /* all of what has to be fulfilled is required */
    {"{'type':'object','allOf':[{'properties':{'a':{'type':'string'}},'required':['a']},"
     "{'properties':{'a':{'minLength':1},'b':{}}}],'required':['z']}",
     "{'type':'object','required':['z','a'],'properties':{'a':{'allOf':[{'type':'string'},"
     "{'minLength':1}]},'b':{}}}"},
    /* and no name is required twice */
    {"{'type':'object','allOf':[{'required':['a',7,'b']},{'required':['a','b','a']}]}",
     "{'type':'object','properties':{},'required':['a','b']}"},
    /* what many say of a property stands in one list, each only once */
    {"{'type':'object','oneOf':[{'properties':{'k':{'const':1}}},{'properties':{'k':{'const':2}}},"
     "{'properties':{'k':{'const':3}}},{'properties':{'k':{'const':1}}}]}",
     "{'type':'object','properties':{'k':{'anyOf':[{'const':1},{'const':2},{'const':3}]}}}"},
    {"{'type':'object','properties':{'k':{'allOf':[{'minLength':1}]}},'allOf':["
     "{'properties':{'k':{'maxLength':2}}},{'anyOf':[{'properties':{'k':{'const':'x'}}}]}]}",
     "{'type':'object','properties':{'k':{'anyOf':[{'allOf':[{'minLength':1},{'maxLength':2}]},"
     "{'const':'x'}]}}}"},
    /* what cannot be told goes */
    {"{'type':'object','properties':{'a':{}},'not':{'required':['b']},'enum':[{}],'if':{}}",
     "{'type':'object','properties':{'a':{}},'if':{}}"},
    {"{'type':'object','allOf':[true,7,{'$ref':'#/nowhere'},{'$ref':'#'}]}",
     "{'type':'object','properties':{}}"},
};

static char *with_quotes(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static void test_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *schema = with_quotes(cases[i].schema);
        char *expected = with_quotes(cases[i].expected ? cases[i].expected : cases[i].schema);
        struct text out = TEXT_INIT;
        schema_put_top(schema, &out);
        assert_string_equal(text_cstr(&out), expected);
        text_release(&out);
        free(expected);
        free(schema);
    }
    struct text out = TEXT_INIT;
    schema_put_top(NULL, &out);
    assert_string_equal(text_cstr(&out), "{\"type\":\"object\",\"properties\":{}}");
    text_release(&out);
}

/* References that lead into each other without end cost nothing much. */
static void test_a_schema_that_leads_to_itself(void **state)
{
    (void)state;
    char *schema = with_quotes("{'type':'object','anyOf':[{'$ref':'#/$defs/a'}],'$defs':{"
                               "'a':{'anyOf':[{'$ref':'#/$defs/b'},{'$ref':'#/$defs/b'}]},"
                               "'b':{'properties':{'x':{}},'allOf':[{'$ref':'#/$defs/a'}]}}}");
    struct text out = TEXT_INIT;
    schema_put_top(schema, &out);
    json_t *root = json_parse(text_cstr(&out), out.length, NULL, NULL);
    assert_non_null(json_object_get(json_object_get(root, "properties"), "x"));
    assert_null(json_object_get(root, "anyOf"));
    json_decref(root);
    text_release(&out);
    free(schema);

    struct text wide = TEXT_INIT;
    text_puts(&wide, "{\"type\":\"object\",\"anyOf\":[");
    for (int i = 0; i < 200; i++)
        text_puts(&wide, "{\"$ref\":\"#\"},");
    text_puts(&wide, "{}]}");
    schema_put_top(text_cstr(&wide), &out);
    assert_string_equal(text_cstr(&out), "{\"type\":\"object\",\"properties\":{}}");
    text_release(&wide);
    text_release(&out);
}

/* Something large that is led to again and again is told once. */
static void test_a_schema_that_grows(void **state)
{
    (void)state;
    struct text wide = TEXT_INIT, out = TEXT_INIT;
    text_puts(&wide, "{\"type\":\"object\",\"anyOf\":[");
    for (int i = 0; i < 500; i++)
        text_puts(&wide, "{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"},");
    text_puts(&wide, "{}],\"$defs\":{\"a\":{\"properties\":{\"p\":{\"title\":\"");
    for (int i = 0; i < 10000; i++)
        text_puts(&wide, "a long title ");
    text_puts(&wide, "\"}}},\"b\":{\"properties\":{\"p\":{\"title\":\"b\"}}}}}");
    schema_put_top(text_cstr(&wide), &out);
    assert_in_range(out.length, wide.length / 2, wide.length * 2);
    text_release(&wide);
    text_release(&out);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *schema = with_quotes(cases[i].schema);
        int failed = 1;
        for (int allowed = 0; failed; allowed++) {
            struct text out = TEXT_INIT;
            fail_after(allowed);
            schema_put_top(schema, &out);
            failed = fail_never();
            assert_int_equal(out.failed, failed);
            text_release(&out);
        }
        free(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_a_schema_that_leads_to_itself),
        cmocka_unit_test(test_a_schema_that_grows),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
