#include "test_rows.h"

#include "execute_code.c"

#include "javascript.h"
#include "typescript.h"

/* R14, R18: types are taken away, and positions are those of what was written. */
static const struct row rows[] = {
    {"interface P { x: number }\nconst p: P = {x: 1};\nenum E { A, B }\np.x + E.B", "value", "2"},
    {"abstract class A { constructor(private readonly z: number) {} get() { return this.z } }\n"
     "class B extends A {}\nnew B(4).get()", "value", "4"},
    {"namespace N { export const k = 4 }\n(N.k satisfies number) as any", "value", "4"},
    {"type T = {\n  a: string\n};\nfunction f(t: T): never {\n  throw new RangeError('no ' + t.a);\n}\nf({a: 'b'})",
     "error", "\"type\":\"RangeError\"|no b|\"line\":5,\"column\":13|at f (line 5, column 13)\\n    at line 7"},
    {"let x: = 3", "error", "\"type\":\"SyntaxError\"|Unexpected|\"line\":1,\"column\":8"},
    {"interface Q {}\n\nawait 1;\n(null as any).foo", "error", "TypeError|\"line\":4"},
    {"const v: number = await Promise.resolve(2);\nv * 2", "value", "4"},
    {"interface Q {}\n\nconsole.log(new Error('here'))", "stdout", "\"Error: here\\n    at line 3, column 17\\n\""},
    {"import fs from 'fs'\nfs.readFileSync('x')", "error", "no modules here"},
    {"const s: string = '\xC3\xBC\xF0\x9F\x98\x80'; throw new Error(s)", "error", "\xC3\xBC\xF0\x9F\x98\x80|\"column\":36"},
    {"'//# sourceMappingURL=data:application/json;base64,AAAA'.length", "value", "54"},
    {"", "value", "null"},
};

/* More than a pipe holds, in both directions. */
static void test_long(mortise_test *test)
{
    enum { LINES = 20000 };
    char *code = malloc(LINES * 32 + 64), *end = code;
    for (int i = 0; i < LINES; i++)
        end += sprintf(end, "let a%d: number = %d;\n", i, i);
    sprintf(end, "a%d", LINES - 1);
    const struct answer *answer = rows_run(test, &execute_code_tool, "typescript", code);
    mortise_test_same(answer_member(answer, "value"), "19999");
    free(code);
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_same(javascript_prepare(), NULL);
    mortise_test_same(typescript_problem(), NULL);
    ROWS_CHECK(test, "typescript", rows);
    test_long(test);
    return mortise_test_close(test);
}
