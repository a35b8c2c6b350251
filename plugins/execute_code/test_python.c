#include "test_rows.h"

#include "execute_code.c"

#include "python.h"

/* R14: the value of the last expression, as JSON where it is JSON, else as repr() gives it. */
static const struct row values[] = {
    {"1 + 1", "value", "2"},
    {"x = 5", "value", "null"},
    {"print('hi')\n[1, {'a': None, 'b': [True, 0.5]}]", "value", "[1,{\"a\":null,\"b\":[true,0.5]}]"},
    {"'a\\x00b\\ud800\"\\n'", "value", "\"a\xEF\xBF\xBD" "b\xEF\xBF\xBD\\\"\\n\""},
    {"import math\nmath.factorial(20)", "value", "2432902008176640000"},
    {"10 ** 30", "value", "\"1000000000000000000000000000000\""},
    {"10 ** 30", "value_type", "\"int\""},
    {"10 ** 5000", "value", "\"[its repr() raised ValueError]\""},
    {"(1, 2)", "value", "\"(1, 2)\""},
    {"{1: 2}", "value_type", "\"dict\""},
    {"float('nan')", "value", "\"nan\""},
    {"import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nP(1)", "value", "\"P(x=1)\""},
    {"class A:\n    def __repr__(self): raise ValueError('r')\nA()", "value", "\"[its repr() raised ValueError]\""},
    {"a = []\na.append(a)\na", "value", "\"[[[[[[[...]]]]]]]\""},
    {"a = []\nfor i in range(100000): a = [a]\na", "value", "\"[[[[[[[...]]]]]]]\""},
    {"__name__", "value", "\"__main__\""},
    {"import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))).__name__", "value", "\"A\""},
    {"import asyncio\nasync def f(): return 5\nasyncio.run(f())", "value", "5"},
    {"import time\ntime.tzname[0]", "value", "\"UTC\""},
};

static const struct row output[] = {
    {"import sys\nprint('o')\nprint('e', file=sys.stderr)", "stdout", "\"o\\n\""},
    {"import sys\nprint('o')\nprint('e', file=sys.stderr)", "stderr", "\"e\\n\""},
    {"import sys\nsys.stdout.buffer.write(b'\\xff\\x00a')", "stdout", "\"\xEF\xBF\xBD\xEF\xBF\xBD" "a\""},
    {"print('\\ud800')", "stdout", "\"\\\\ud800\\n\""},
    {"import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer)\nprint('x', end='')", "stdout", "\"x\""},
    {"import sys, io\nsys.stdout = io.StringIO()\nprint('lost')", "stdout", "\"\""},
    {"import sys\nsys.stdout = 5", "stdout", "\"\""},
    {"import os\nos.close(0); os.close(1); os.close(2)\nprint('still')", "stdout", "\"still\\n\""},
    {"import atexit\natexit.register(print, 'at exit')\nprint('end')", "stdout", "\"end\\nat exit\\n\""},
    {"import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('t'))).start()", "stdout", "\"t\\n\""},
    {"import threading, time\nthreading.Thread(target=time.sleep, args=[100]).start()", "stderr",
     "\"[1 thread still running at the end, and stopped]\\n\""},
    {"import threading, time\nthreading.Thread(target=time.sleep, args=[100], daemon=True).start()", "stderr", "\"\""},
    {"import warnings\nwarnings.warn('w')", "stderr", "\"<code>:2: UserWarning: w\\n  warnings.warn('w')\\n\""},
};

/* R18: type, message, line and column, and the code's own frames. */
static const struct row errors[] = {
    {"def f():\n    return 1/0\nf()", "error",
     "\"type\":\"ZeroDivisionError\",\"message\":\"division by zero\",\"line\":2,\"column\":12|"
     "File \\\"<code>\\\", line 3, in <module>\\n    f()\\n  File \\\"<code>\\\", line 2, in f\\n    return 1/0"},
    {"x = = 3", "error", "\"type\":\"SyntaxError\",\"message\":\"invalid syntax\",\"line\":1,\"column\":5"},
    {"if True:\nx", "error", "\"type\":\"IndentationError\"|\"line\":2"},
    {"try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e", "error", "KeyError|direct cause|\"line\":4"},
    {"import json\njson.loads('{')", "error", "JSONDecodeError|\"line\":2"},
    {"raise SystemExit(3)", "error", "SystemExit|exit status 3"},
    {"import sys\nsys.exit('bye')", "error", "SystemExit|bye"},
    {"import os\nprint('x')\nos._exit(3)", "error", "exit status 3"},
    {"raise KeyboardInterrupt", "error", "\"type\":\"KeyboardInterrupt\""},
    {"class E(BaseException):\n    def __str__(self): raise ValueError\nraise E", "error", "its str() raised ValueError|\"line\":3"},
    {"def r(): return r()\nr()", "error", "RecursionError|\"line\":1"},
    {"import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\nsys.setrecursionlimit(500)\nrepr(A())", "error", "RecursionError|\"line\":4"},
    {"import sys\nsys.setrecursionlimit(10)\nraise ValueError('v')", "error", "\"message\":\"v\",\"line\":3"},
    {"import traceback\ntraceback.TracebackException = traceback.StackSummary = None\nraise ValueError('v')", "error", "\"message\":\"v\",\"line\":3"},
    {"input()", "error", "EOFError"},
    {"import os\nos.fork()", "error", "PermissionError"},
    {"import subprocess\nsubprocess.run(['true'])", "error", "PermissionError"},
    {"\xff\xfe", "error", "SyntaxError"},
};

static const struct row tricks[] = {
    {"raise SystemExit", "value", "null"},
    {"exit()", "value", "null"},
    {"import builtins\nbuiltins.len = builtins.str = builtins.type = builtins.isinstance = None\n[1]", "value", "[1]"},
    {"import sys\nsys.modules.clear()\n10", "value", "10"},
    {"import threading, os\nthreading.enumerate = os.getcwd = None\n3", "value", "3"},
    {"import gc\ngc.disable()\n[i for i in range(10) if i > 8]", "value", "[9]"},
    {"import os\nsorted(os.environ)", "value", "[\"HOME\",\"LANG\",\"TMPDIR\"]"},
};

/* Nothing of one call is seen in the next, nor are its random numbers. */
static void test_apart(mortise_test *test)
{
    rows_run(test, &execute_code_tool, "python", "import builtins, sys\nbuiltins.kept = sys.kept = kept = 1");
    const struct answer *next = rows_run(test, &execute_code_tool, "python",
                                         "import sys\n[hasattr(sys, 'kept'), 'kept' in globals()]");
    mortise_test_same(answer_member(next, "value"), "[false,false]");
    const struct answer *one = rows_run(test, &execute_code_tool, "python", "import random\nrandom.random()");
    const struct answer *two = rows_run(test, &execute_code_tool, "python", "import random\nrandom.random()");
    mortise_test_true(strcmp(one->text, two->text) != 0);
}

static void test_long(mortise_test *test)
{
    const struct answer *answer = rows_run(test, &execute_code_tool, "python", "'x' * 10**8");
    mortise_test_contains(answer->text, "characters left out");
    answer = rows_run(test, &execute_code_tool, "python", "list(range(10**6))");
    mortise_test_contains(answer->text, "98, 99, ...]");
    answer = rows_run(test, &execute_code_tool, "python", "raise ValueError('x' * 10**7)");
    mortise_test_true(!answer->is_ok && answer->length < 40000);
    answer = rows_run(test, &execute_code_tool, "python", "a = b = []\nfor i in range(10**5): a = [a, b]\n{'k': a, 'n': 'x' * 10**6}");
    mortise_test_true(answer->is_ok && answer->length < 40000);
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_same(python_prepare(), NULL);
    ROWS_CHECK(test, "python", values);
    ROWS_CHECK(test, "python", output);
    ROWS_CHECK(test, "python", errors);
    ROWS_CHECK(test, "python", tricks);
    test_apart(test);
    test_long(test);
    return mortise_test_close(test);
}
