/* The schema of a tool as Gemini takes it (FAULTS 115). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "provider/schema_reduce.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In these, ' stands for ". */
static const struct {
    const char *schema;
    const char *expected;
} cases[] = {
    {"", "{'type':'object','properties':{}}"},
    {"{}", "{'type':'object'}"},
    {"oops", "{'type':'object','properties':{}}"},
    /* what is known stays as it is */
    {"{'type':'object','properties':{'n':{'type':'integer','description':'d','minimum':1}},"
     "'required':['n'],'additionalProperties':false}",
     "{'type':'object','properties':{'n':{'type':'integer','description':'d','minimum':1}},"
     "'required':['n'],'additionalProperties':false}"},
    /* what is not known goes, also where a property has its name */
    {"{'$schema':'s','type':'object','propertyNames':{},'properties':{'pattern':{'type':'string',"
     "'pattern':'x','format':'uri','default':'y'}},'if':{},'not':{}}",
     "{'type':'object','properties':{'pattern':{'type':'string'}}}"},
    {"{'type':'object','properties':{'a':{'type':['string','null'],'format':'date'},"
     "'b':{'type':''},'c':true,'d':{'type':['x']}}}",
     "{'type':'object','properties':{'a':{'type':['string','null'],'format':'date'},'b':{},"
     "'c':{},'d':{}}}"},
    {"{'type':'object','properties':{'a':{'const':'x'},'b':{'const':7},'c':{'const':null},"
     "'d':{'enum':[1,2.5]},'e':{'enum':['x',null]},'f':{'type':'string','enum':[]}}}",
     "{'type':'object','properties':{'a':{'enum':['x'],'type':'string'},"
     "'b':{'enum':[7],'type':'integer'},'c':{},'d':{'enum':[1,2.5],'type':'number'},'e':{},"
     "'f':{'type':'string'}}}"},
    {"{'type':'object','properties':{'a':{'exclusiveMinimum':1,'exclusiveMaximum':true},"
     "'b':{'minimum':3,'exclusiveMinimum':1}}}",
     "{'type':'object','properties':{'a':{'minimum':1},'b':{'minimum':3}}}"},
    {"{'type':'object','properties':{'a':{'items':[{'type':'string'}]},"
     "'b':{'items':{'oneOf':[{'type':'string'},{}]}},'c':{'anyOf':[{}],'oneOf':[{},{}]}}}",
     "{'type':'object','properties':{'a':{'prefixItems':[{'type':'string'}]},"
     "'b':{'items':{'anyOf':[{'type':'string'},{}]}},'c':{'anyOf':[{}]}}}"},
    /* references */
    {"{'properties':{'a':{'$ref':'#/$defs/x~1y','description':'here'},'b':{'$ref':'#/$defs/p%71'}},"
     "'$defs':{'x/y':{'type':'string','description':'there'},'pq':{'$ref':'#/$defs/x~1y'}}}",
     "{'properties':{'a':{'description':'here','type':'string'},"
     "'b':{'type':'string','description':'there'}},'type':'object'}"},
    {"{'type':'object','properties':{'next':{'$ref':'#'},'far':{'$ref':'http://x'},"
     "'none':{'$ref':'#/$defs/z'},'odd':{'$ref':'#name'}}}",
     "{'type':'object','properties':{'next':{},'far':{},'none':{},'odd':{}}}"},
    {"{'type':'object','properties':{'t':{'$ref':'#/definitions/t'}},'definitions':{'t':{"
     "'type':'object','properties':{'kids':{'items':{'$ref':'#/definitions/t'}}}}}}",
     "{'type':'object','properties':{'t':{'type':'object','properties':{'kids':{'items':{}}}}}}"},
    /* allOf */
    {"{'type':'object','properties':{'a':{'type':'string'}},'required':['a'],'allOf':["
     "{'properties':{'b':{'type':'null'},'a':{}},'required':['a','b']},{'title':'t'}]}",
     "{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'null'}},"
     "'required':['a','b'],'title':'t'}"},
    /* names that no property has */
    {"{'type':'object','properties':{'a':{'anyOf':[{'required':['x']},{'properties':{'x':{}},"
     "'required':['y','x','z']}]}},'required':['b','a'],'allOf':[{'required':['c']},"
     "{'properties':{'c':{}}}]}",
     "{'type':'object','properties':{'a':{'anyOf':[{},{'properties':{'x':{}},'required':['x']}]},"
     "'c':{}},'required':['a','c']}"},
    {"{'type':'object','properties':7,'required':'x','items':3,'anyOf':{},'allOf':[3]}",
     "{'type':'object','items':{}}"},
};

static char *with_quotes(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *schema = with_quotes(cases[i].schema), *expected = with_quotes(cases[i].expected);
        struct text out = TEXT_INIT;
        schema_put_reduced(schema, &out);
        assert_string_equal(text_cstr(&out), expected);
        text_release(&out);
        free(schema);
        free(expected);
    }
    struct text out = TEXT_INIT;
    schema_put_reduced(NULL, &out);
    assert_string_equal(text_cstr(&out), "{\"type\":\"object\",\"properties\":{}}");
    text_release(&out);
}

/* Each definition leads to the next one twice: 2^24 schemas, if nothing stopped it. */
static void test_doubling(void **state)
{
    (void)state;
    struct text schema = TEXT_INIT, out = TEXT_INIT;
    text_puts(&schema, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 24; i++)
        text_printf(&schema,
                    "\"d%d\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/d%d\"},"
                    "\"b\":{\"$ref\":\"#/$defs/d%d\"}}},",
                    i, i + 1, i + 1);
    text_puts(&schema, "\"d24\":{}}}");
    schema_put_reduced(text_cstr(&schema), &out);
    assert_in_range(out.length, 1000, 200000);
    text_release(&schema);
    text_release(&out);
}

/* What is large by itself, and led to from many places. */
static void test_what_is_led_to_again_and_again(void **state)
{
    static const struct {
        const char *begin, *each, *end;
    } large[] = {
        {"{\"description\":\"", "a word ", "\"}"},
        {"{\"enum\":[", "\"value\",", "\"\"]}"},
        {"{\"type\":[", "\"string\",", "\"null\"]}"},
        {"{\"required\":[", "\"name\",", "\"\"]}"},
        {"{\"anyOf\":[", "true,", "{}]}"},
        {"{\"allOf\":[", "true,", "{}]}"},
        {"{\"prefixItems\":[", "false,", "{}]}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(large); i++) {
        struct text schema = TEXT_INIT, out = TEXT_INIT;
        text_puts(&schema, "{\"type\":\"object\",\"properties\":{");
        for (int k = 0; k < 3000; k++)
            text_printf(&schema, "\"p%d\":{\"$ref\":\"#/$defs/large\"},", k);
        text_printf(&schema, "\"last\":{}},\"$defs\":{\"large\":%s", large[i].begin);
        for (int k = 0; k < 10000; k++)
            text_puts(&schema, large[i].each);
        text_printf(&schema, "%s}}", large[i].end);
        schema_put_reduced(text_cstr(&schema), &out);
        assert_false(out.failed);
        assert_in_range(out.length, 1000, 2u << 20);
        text_release(&schema);
        text_release(&out);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *schema = with_quotes(cases[i].schema), *expected = with_quotes(cases[i].expected);
        bool failed = true;
        for (int allowed = 0; failed; allowed++) {
            struct text out = TEXT_INIT;
            fail_after(allowed);
            schema_put_reduced(schema, &out);
            failed = fail_never();
            assert_true(out.failed || !strcmp(text_cstr(&out), expected));
            assert_true(failed || !out.failed);
            text_release(&out);
        }
        free(schema);
        free(expected);
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_doubling),
        cmocka_unit_test(test_what_is_led_to_again_and_again),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
