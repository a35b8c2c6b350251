#include "test_rows.h"

#include "execute_code.c"

#include "javascript.h"

/* R18: the value of the last expression, as JSON where it is JSON. */
static const struct row values[] = {
    {"1+1", "value", "2"},
    {"'a' + 1;", "value", "\"a1\""},
    {"[1, {a: null, b: [true]}]", "value", "[1,{\"a\":null,\"b\":[true]}]"},
    {"{a: 1}", "value", "{\"a\":1}"},
    {"let n = 0; for (const i of [1, 2, 3]) n += i", "value", "6"},
    {"class A { #x = 1; get x() { return this.#x } }\nnew A().x + [1, [2]].flat().length", "value", "3"},
    {"'\\u0000\\ud800'", "value", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"[2 ** 63, 1e21, 0.1]", "value", "[9223372036854776000.0,1e+21,0.1]"},
    {"Promise.resolve(7)", "value", "7"},
    {"Promise.resolve().then(() => { throw 1 }).catch(e => e + 1)", "value", "2"},
    {"new Proxy([1, 2], {})", "value", "[1,2]"},
    {"JSON.stringify({a: Math.max(1, 2)}) + new Date(0).toISOString()", "value", /* R19 */
     "\"{\\\"a\\\":2}1970-01-01T00:00:00.000Z\""},
    {"new Date(2020, 6, 1).getTimezoneOffset()", "value", "0"},
};

/* … and else as a console shows it. */
static const struct row shown[] = {
    {"undefined", "value", "null"},
    {"undefined", "value_type", "\"undefined\""},
    {"NaN", "value", "\"NaN\""},
    {"-0", "value", "\"-0\""},
    {"12n", "value", "\"12n\""},
    {"x => x", "value", "\"[Function: (anonymous)]\""},
    {"class A {}; A", "value", "\"[class A]\""},
    {"Symbol('s')", "value", "\"Symbol(s)\""},
    {"new Map([[1, new Set(['a'])]])", "value", "\"Map(1) { 1 => Set(1) { 'a' } }\""},
    {"new Map()", "value_type", "\"Map\""},
    {"let a = {n: 1}; a.self = a; a", "value", "\"{ n: 1, self: [Circular] }\""},
    {"[1, , 3]", "value", "\"[ 1, <1 empty item>, 3 ]\""},
    {"new Error('e')", "value", "\"Error: e\\n    at line 1, column 10\""},
    {"/a+/g", "value", "\"/a+/g\""},
    {"new Uint8Array([1, 2])", "value", "\"Uint8Array(2) [ 1, 2 ]\""},
    {"class P { x = 1; #y = 2; get z() { return 3 } }\nnew P", "value", "\"P { x: 1 }\""},
    {"Object.create(null)", "value", "\"[Object: null prototype] {}\""},
    {"[{a: {b: {c: {d: {}}}}}, undefined]", "value",
     "\"[ { a: { b: { c: { d: [Object] } } } }, undefined ]\""},
    {"new Promise(() => {})", "value", "\"Promise { <pending> }\""},
    {"let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a", "value", "\"[ [ [ [ [ [Array] ] ] ] ] ]\""},
    {"({get x() { throw 1 }})", "value", "\"{ x: [Getter] }\""},
    {"new Proxy({}, {ownKeys() { throw 1 }, getPrototypeOf() { throw 2 }})", "value",
     "\"[an object that cannot be shown]\""},
    {"({get [Symbol.toStringTag]() { throw 1 }})", "value", "\"[an object that cannot be shown]\""},
};

static const struct row console[] = {
    {"console.log('a', 1, {b: [2]}, null, undefined, 5n)", "stdout", "\"a 1 { b: [ 2 ] } null undefined 5n\\n\""},
    {"console.warn('w'); console.error('e'); console.info('i'); console.debug('d')", "stderr", "\"w\\ne\\n\""},
    {"console.info('i'); console.debug('d')", "stdout", "\"i\\nd\\n\""},
    {"console.log('%s is %d%% of %o %x', 'x', 4.5, {a: 1}, 'rest')", "stdout", "\"x is 4.5% of { a: 1 } %x rest\\n\""},
    {"console.log({toString() { throw 1 }, [Symbol.toPrimitive]() { throw 2 }}, Symbol('s'))", "stderr", "\"\""},
    {"console.log('%d %i %f', {valueOf() { throw 1 }}, Symbol(), [1])", "stdout", "\"NaN NaN NaN\\n\""},
    {"console.group('g'); console.log('a\\nb'); console.groupEnd(); console.log('c')", "stdout", "\"g\\n  a\\n  b\\nc\\n\""},
    {"console.count(); console.count(); console.assert(false, 'no')", "stdout", "\"default: 1\\ndefault: 2\\n\""},
    {"console.log('a\\0b\\ud800')", "stdout", "\"a\xEF\xBF\xBD" "b\xEF\xBF\xBD\\n\""},
    /* What a script replaces is not what tells of it. */
    {"Array.prototype.push = JSON.stringify = String = Map = null;\n"
     "Array.prototype[Symbol.iterator] = Object.getOwnPropertyDescriptor = null;\n"
     "Object.prototype.get = () => { throw 1 }; console.log([1, new Map]); 3", "error", "TypeError|\"line\":3"},
    {"Array.prototype.push = JSON.stringify = String = null; Array.prototype[Symbol.iterator] = null;\n"
     "console.log([1, {a: 'x'}])", "stdout", "\"[ 1, { a: 'x' } ]\\n\""},
};

/* R18: an exception gives its message and its position. */
static const struct row errors[] = {
    {"function f() {\n  null.x\n}\nf()", "error",
     "\"type\":\"TypeError\"|\"line\":2|\"column\":7|at f (line 2, column 7)\\n    at line 4"},
    {"let x = 1\nlet y = ;", "error", "\"type\":\"SyntaxError\"|\"line\":2"},
    {"JSON.parse('{')", "error", "SyntaxError|\"line\":1|\"column\":11"},
    {"class Own extends RangeError {}\nthrow new Own('mine')", "error", "\"type\":\"RangeError\"|mine|\"line\":2"},
    {"throw 42", "error", "\"type\":\"number\",\"message\":\"thrown: 42\""},
    {"throw {a: 1}", "error", "thrown: { a: 1 }"},
    {"throw null", "error", "\"type\":\"null\""},
    {"throw {toString() { throw 1 }}", "error", "\"type\":\"Object\""},
    {"class E extends Error { get message() { throw 1 } }\nthrow new E", "error", "\"line\":2"},
    {"const e = new Error('m'); e.stack = 5; e.line = 'x'; e.name = {}; throw e", "error", "\"message\":\"m\""},
    {"function r() { r() } r()", "error", "\"type\":\"RangeError\",\"message\":\"Maximum call stack size exceeded"},
    {"let s = 'x'; for (;;) s += s", "error", "Out of memory"},
    {"Promise.reject(new TypeError('no'))", "error", "\"type\":\"TypeError\",\"message\":\"no\""},
    {"Promise.reject(new Error('late'))\n1", "error", "nobody waits for that promise: late|\"line\":1"},
    {"(async () => { await null; throw new Error('in') })()", "error", "\"message\":\"in\""},
    {"/* open", "error", "SyntaxError"},
    {"eval('1+')", "error", "SyntaxError|\"line\":1"},
};

/* R19: what is not there, and that it says so. */
static const struct row absent[] = {
    {"require('fs')", "error", "ReferenceError|'require' does not exist here"},
    {"process.env", "error", "'process' does not exist here"},
    {"fs.readFileSync('/etc/passwd')", "error", "'fs' does not exist here"},
    {"fetch('http://localhost/')", "error", "'fetch' does not exist here"},
    {"import fs from 'fs'", "error", "no modules here"},
    {"import('fs')", "error", "no modules here"},
    {"export const a = 1", "error", "no modules here"},
    {"setTimeout(() => 1, 1)", "error", "no timers here"},
    {"[typeof require, typeof process, typeof fs, typeof fetch, typeof print, typeof load]", "value",
     "[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\"]"},
};

/* `await` outside of functions. */
static const struct row waiting[] = {
    {"const v = await Promise.resolve(3);\nv + 1", "value", "4"},
    {"await 5", "value", "5"},
    {"const f = async () => 4;\nawait f(); // note; done", "value", "4"},
    {"for (const i of [1]) await i;\n[1,\n 2]", "value", "[1,2]"},
    {"await main();\nasync function main() { console.log('hi') }", "stdout", "\"hi\\n\""},
    {"const t = `a;${await 1};b`; /;`/.test(t)\nt", "value", "\"a;1;b\""},
    {"await 1\nlet x = 5", "value", "null"},
    {"await 1; 'a' // }", "value", "\"a\""},
    {"await null; null.x", "error", "\"line\":1|\"column\":17"},
    {"await null;\n  null.x", "error", "\"line\":2|\"column\":7"},
    {"await null;\nlet y = ;", "error", "SyntaxError|\"line\":2"},
    {"await new Promise(() => {})", "value", "\"Promise { <pending> }\""},
};

static void test_long(mortise_test *test)
{
    const struct answer *answer = rows_run(test, &execute_code_tool, "javascript", "'x'.repeat(1e8)");
    mortise_test_contains(answer->text, "characters left out");
    mortise_test_true(answer->length < 20000);
    answer = rows_run(test, &execute_code_tool, "javascript", "new Array(1e6).fill(7)");
    mortise_test_contains(answer->text, "999900 more items");
    answer = rows_run(test, &execute_code_tool, "javascript", "new Array(1e6).fill('y'.repeat(5000))");
    mortise_test_true(answer->is_ok && answer->length < 40000);
}

/* What tells of a script is there after everything else was collected. */
static void test_garbage(mortise_test *test)
{
    const struct answer *answer = rows_run(
        test, &execute_code_tool, "javascript",
        "for (let i = 0; i < 300; i++) { const a = []; for (let k = 0; k < 3000; k++) a.push({s: 'k' + k}) }\n"
        "console.log(new Map([[1, 2]])); Promise.reject(new Error('late')); 1");
    mortise_test_same(answer_member(answer, "stdout"), "\"Map(1) { 1 => 2 }\\n\"");
    mortise_test_contains(answer->text, "nobody waits for that promise: late");
}

/* R17: nothing but the limit of time ends it; that is the host's part, and here the test's. */
static void test_endless(mortise_test *test)
{
    static const char *const endless[] = {"for (;;);", "function f() { Promise.resolve().then(f) } f()",
                                          "({toString() { for (;;); }}) + ''"};
    for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
        const execute_code_args args = {.code = endless[i], .language = "javascript"};
        mortise_test_true(child_run(test, &execute_code_tool, &args, 500)->end == -1);
    }
}

/* Nothing of one call is seen in the next, nor are its random numbers. */
static void test_apart(mortise_test *test)
{
    rows_run(test, &execute_code_tool, "javascript", "globalThis.kept = Array.prototype.kept = 1");
    const struct answer *next = rows_run(test, &execute_code_tool, "javascript", "typeof kept + [].kept");
    mortise_test_same(answer_member(next, "value"), "\"undefinedundefined\"");
    const struct answer *one = rows_run(test, &execute_code_tool, "javascript", "Math.random()");
    const struct answer *two = rows_run(test, &execute_code_tool, "javascript", "Math.random()");
    mortise_test_true(strcmp(one->text, two->text) != 0);
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_same(javascript_prepare(), NULL);
    ROWS_CHECK(test, "javascript", values);
    ROWS_CHECK(test, "javascript", shown);
    ROWS_CHECK(test, "javascript", console);
    ROWS_CHECK(test, "javascript", errors);
    ROWS_CHECK(test, "javascript", absent);
    ROWS_CHECK(test, "javascript", waiting);
    test_long(test);
    test_garbage(test);
    test_endless(test);
    test_apart(test);
    return mortise_test_close(test);
}
