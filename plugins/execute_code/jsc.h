/*
 * jsc - the functions of JavaScriptCore that are used here, by the C interface that it has had
 * since 2008 (JavaScriptCore/JavaScript.h).
 *
 * Declared here, for its header comes with 30 MB of others.  The library is loaded when it is
 * needed first, in the process that calls are forked from.
 */
#ifndef JSC_H
#define JSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct OpaqueJSContext *js_context;
typedef struct OpaqueJSValue *js_value;
typedef js_value js_object; /* a value that is known to be an object */
typedef struct OpaqueJSString *js_string;

typedef js_value (*js_callback)(js_context context, js_object function, js_object self,
                                size_t count, const js_value arguments[], js_value *exception);

/* name, result, parameters.  The last one is not in the public headers: without it, rejected
 * promises that nobody looks after are not noticed. */
#define JSC_FUNCTIONS(X)                                                                           \
    X(GlobalContextCreate, js_context, (void *global_class))                                       \
    X(StringCreateWithUTF8CString, js_string, (const char *text))                                  \
    X(StringGetMaximumUTF8CStringSize, size_t, (js_string string))                                 \
    X(StringGetUTF8CString, size_t, (js_string string, char *out, size_t size))                    \
    X(StringRelease, void, (js_string string))                                                     \
    X(CheckScriptSyntax, bool,                                                                     \
      (js_context context, js_string script, js_string url, int line, js_value *exception))        \
    X(EvaluateScript, js_value,                                                                    \
      (js_context context, js_string script, js_object self, js_string url, int line,              \
       js_value *exception))                                                                       \
    X(ObjectMakeFunctionWithCallback, js_object,                                                   \
      (js_context context, js_string name, js_callback callback))                                  \
    X(ObjectCallAsFunction, js_value,                                                              \
      (js_context context, js_object function, js_object self, size_t count,                       \
       const js_value arguments[], js_value *exception))                                           \
    X(ValueMakeString, js_value, (js_context context, js_string string))                           \
    X(ValueMakeNumber, js_value, (js_context context, double number))                              \
    X(ValueMakeUndefined, js_value, (js_context context))                                          \
    X(ValueToNumber, double, (js_context context, js_value value, js_value *exception))            \
    X(ValueToStringCopy, js_string, (js_context context, js_value value, js_value *exception))     \
    X(ValueProtect, void, (js_context context, js_value value))                                    \
    X(ValueIsObject, bool, (js_context context, js_value value))                                   \
    X(GlobalContextSetUnhandledRejectionCallback, void,                                            \
      (js_context context, js_object function, js_value *exception))

struct jsc {
#define X(name, result, parameters) result(*name) parameters;
    JSC_FUNCTIONS(X)
#undef X
};

/* The functions, or NULL with *problem: a text that says what is missing.  Not thread-safe. */
const struct jsc *jsc_load(const char **problem);

#endif
