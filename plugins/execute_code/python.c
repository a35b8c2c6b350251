#include "python.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"
#include "libpython.h"

enum { STACK_BYTES = 64 << 20 }; /* for deep recursion; memory only as far as it is used */

#define CAPSULE "run"

/* One in a process, as the interpreter is. */
static struct {
    const struct libpython *api;
    void *thread;       /* the state of the thread that has started it, held by nobody */
    py_object function; /* run() of runner.py */
    pid_t process;      /* where it was started */
    char problem[200];  /* why it was not, or "" */
} python;

/* ---- before the fork ---- */

/* Why something has failed, as the interpreter says it. */
static void keep_problem(const char *what)
{
    const struct libpython *api = python.api;
    py_object type = NULL, value = NULL, trace = NULL;
    api->PyErr_Fetch(&type, &value, &trace);
    py_object text = value ? api->PyObject_Str(value) : NULL;
    const char *why = text ? api->PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(python.problem, sizeof(python.problem), "%s: %s", what, why ? why : "unknown");
    api->PyErr_Clear();
}

static void load_runner(void)
{
    const struct libpython *api = python.api;
    py_object space = api->PyDict_New(), own = api->PyDict_Copy(api->PyEval_GetBuiltins());
    py_object code =
        api->Py_CompileString(embedded_text("python", "runner.py"), "<runner>", PY_FILE_INPUT);
    if (space && own && code && api->PyDict_SetItemString(space, "__builtins__", own) == 0 &&
        api->PyEval_EvalCode(code, space, space))
        python.function = api->PyDict_GetItemString(space, "run");
    if (!python.function)
        keep_problem("its start failed");
}

static void start(void)
{
    const struct libpython *api = python.api;
#define X(name) *api->name = 1;
    LIBPYTHON_FLAGS(X)
#undef X
    api->Py_SetProgramName(L"/usr/bin/python3"); /* where its modules are looked for */
    api->Py_InitializeEx(0);
    load_runner();
    python.process = getpid();
    python.thread = api->PyEval_SaveThread();
}

const char *python_prepare(void)
{
    const char *problem = NULL;
    if (!python.api && !(python.api = libpython_load(&problem)))
        return problem;
    if (!python.process)
        start();
    return python.function ? NULL : python.problem;
}

/* ---- behind it ---- */

/* emit(stream, bytes), on any thread of the code's */
static py_object emit(py_object self, py_object arguments)
{
    const struct libpython *api = python.api;
    struct run *run = api->PyCapsule_GetPointer(self, CAPSULE);
    int stream;
    py_object bytes;
    char *text;
    py_size length;
    if (!run || !api->PyArg_ParseTuple(arguments, "iO", &stream, &bytes) ||
        api->PyBytes_AsStringAndSize(bytes, &text, &length) != 0)
        return NULL;
    output_add(&run->output, stream, text, (size_t)length);
    return api->PyLong_FromLong(0);
}

static void *run_code(void *data)
{
    static struct py_method method = {"emit", emit, PY_VARARGS, NULL};
    struct run *run = data;
    const struct libpython *api = python.api;
    char *text;
    py_size length;
    api->PyEval_RestoreThread(python.thread);
    if (getpid() != python.process)
        api->PyOS_AfterFork_Child();
    py_object capsule = api->PyCapsule_New(run, CAPSULE, NULL);
    py_object emitter = capsule ? api->PyCFunction_NewEx(&method, capsule, NULL) : NULL;
    py_object outcome = emitter ? api->PyObject_CallFunction(python.function, "yOi", run->code,
                                                             emitter, (int)run->value_limit)
                                : NULL;
    if (outcome && api->PyBytes_AsStringAndSize(outcome, &text, &length) == 0)
        run_tell(run, text, (size_t)length);
    /* The interpreter stays held, so that threads of the code's stand still; the process ends. */
    return NULL;
}

bool python_run(struct run *run)
{
    const char *problem = python_prepare();
    if (problem) {
        mortise_fail_as(run->call, MORTISE_NOT_SUPPORTED, "execute_code.not_installed",
                        "Python is not available: %s", problem);
        return false;
    }
    return run_on_thread(run, STACK_BYTES, run_code, run);
}
