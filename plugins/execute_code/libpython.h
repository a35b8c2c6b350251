/*
 * libpython - the functions of CPython that are used here, all of its stable interface, so that
 * any Python 3 from 3.9 on will do; none is needed to build.
 *
 * Loaded when it is needed first, in the process that calls are forked from.
 */
#ifndef LIBPYTHON_H
#define LIBPYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef struct _object *py_object;
typedef intptr_t py_size;
typedef py_object (*py_function)(py_object self, py_object arguments);

struct py_method { /* PyMethodDef */
    const char *name;
    py_function function;
    int flags;
    const char *text;
};

enum { PY_FILE_INPUT = 257 /* Py_file_input */, PY_VARARGS = 1 /* METH_VARARGS */ };

/* name, result, parameters */
#define LIBPYTHON_FUNCTIONS(X)                                                                     \
    X(Py_SetProgramName, void, (const wchar_t *name))                                              \
    X(Py_InitializeEx, void, (int signals))                                                        \
    X(Py_CompileString, py_object, (const char *text, const char *name, int start))                \
    X(Py_DecRef, void, (py_object object))                                                         \
    X(PyOS_AfterFork_Child, void, (void))                                                          \
    X(PyArg_ParseTuple, int, (py_object arguments, const char *format, ...))                       \
    X(PyBytes_AsStringAndSize, int, (py_object bytes, char **text, py_size *length))               \
    X(PyCFunction_NewEx, py_object, (struct py_method *method, py_object self, py_object module))  \
    X(PyCapsule_GetPointer, void *, (py_object capsule, const char *name))                         \
    X(PyCapsule_New, py_object, (void *pointer, const char *name, void *release))                  \
    X(PyDict_GetItemString, py_object, (py_object dict, const char *key))                          \
    X(PyDict_New, py_object, (void))                                                               \
    X(PyDict_SetItemString, int, (py_object dict, const char *key, py_object value))               \
    X(PyDict_Copy, py_object, (py_object dict))                                                    \
    X(PyErr_Clear, void, (void))                                                                   \
    X(PyErr_Fetch, void, (py_object * type, py_object *value, py_object *trace))                   \
    X(PyEval_EvalCode, py_object, (py_object code, py_object globals, py_object locals))           \
    X(PyEval_GetBuiltins, py_object, (void))                                                       \
    X(PyEval_RestoreThread, void, (void *thread))                                                  \
    X(PyEval_SaveThread, void *, (void))                                                           \
    X(PyLong_FromLong, py_object, (long number))                                                   \
    X(PyObject_CallFunction, py_object, (py_object function, const char *format, ...))             \
    X(PyObject_Str, py_object, (py_object object))                                                 \
    X(PyUnicode_AsUTF8AndSize, const char *, (py_object text, py_size *length))

/* Settings: nothing of the environment, the user or the packages that are installed. */
#define LIBPYTHON_FLAGS(X)                                                                         \
    X(Py_IsolatedFlag)                                                                             \
    X(Py_IgnoreEnvironmentFlag)                                                                    \
    X(Py_NoSiteFlag)                                                                               \
    X(Py_NoUserSiteDirectory)                                                                      \
    X(Py_DontWriteBytecodeFlag)                                                                    \
    X(Py_UTF8Mode)

struct libpython {
#define X(name, result, parameters) result(*name) parameters;
    LIBPYTHON_FUNCTIONS(X)
#undef X
#define X(name) int *name;
    LIBPYTHON_FLAGS(X)
#undef X
};

/* The functions, or NULL with *problem: a text that says what is missing.  Not thread-safe. */
const struct libpython *libpython_load(const char **problem);

#endif
