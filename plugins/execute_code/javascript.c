#include "javascript.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "jsc.h"
#include "statement.h"

enum { STACK_BYTES = 8 << 20 }; /* the engine takes 5 MiB of it and then throws a RangeError */

#define SCRIPT "script" /* by which runtime.js knows the script's own positions */

/* Text that was put into the script: so many characters at a line and a column, from 1. */
struct move {
    size_t line, column, by;
};

struct engine {
    struct run *run;
    const struct jsc *jsc;
    js_context context;
    js_object runtime; /* the function of runtime.js */
    const char *script, *map;
    struct move moves[2];
    size_t move_count;
};

/* The functions that the engine calls get no data of ours. */
static _Thread_local struct engine *current;

const char *javascript_prepare(void)
{
    const char *problem = NULL;
    jsc_load(&problem);
    return problem;
}

/* ---- values ---- */

/* From malloc(), with a NUL behind it; NULL: there is no memory, or it cannot be a text. */
static char *text_of(const struct engine *engine, js_value value, size_t *length)
{
    const struct jsc *jsc = engine->jsc;
    js_value exception = NULL;
    js_string string = jsc->ValueToStringCopy(engine->context, value, &exception);
    if (!string)
        return NULL;
    size_t size = jsc->StringGetMaximumUTF8CStringSize(string);
    char *text = malloc(size);
    size_t used = text ? jsc->StringGetUTF8CString(string, text, size) : 0;
    jsc->StringRelease(string);
    *length = used ? used - 1 : 0;
    return text;
}

static js_value string_value(const struct engine *engine, const char *text)
{
    js_string string = engine->jsc->StringCreateWithUTF8CString(text);
    js_value value = engine->jsc->ValueMakeString(engine->context, string);
    engine->jsc->StringRelease(string);
    return value;
}

static js_value evaluate(const struct engine *engine, const char *text, const char *name,
                         js_value *exception)
{
    const struct jsc *jsc = engine->jsc;
    js_string script = jsc->StringCreateWithUTF8CString(text);
    js_string url = jsc->StringCreateWithUTF8CString(name);
    js_value value = jsc->EvaluateScript(engine->context, script, NULL, url, 1, exception);
    jsc->StringRelease(url);
    jsc->StringRelease(script);
    return value;
}

static bool is_valid(const struct engine *engine, const char *text)
{
    const struct jsc *jsc = engine->jsc;
    js_string script = jsc->StringCreateWithUTF8CString(text);
    bool valid = jsc->CheckScriptSyntax(engine->context, script, NULL, 1, NULL);
    jsc->StringRelease(script);
    return valid;
}

/* What the runtime answers to `want`; NULL: it has thrown.  When it returns, all that was to happen
 * after it has happened: the engine works off what promises have set free. */
static js_value ask(const struct engine *engine, const char *want, js_value one, js_value two)
{
    js_value arguments[] = {string_value(engine, want), one, two};
    js_value exception = NULL;
    size_t count = two ? 3 : one ? 2 : 1;
    js_value answer = engine->jsc->ObjectCallAsFunction(engine->context, engine->runtime, NULL,
                                                        count, arguments, &exception);
    return exception ? NULL : answer;
}

/* ---- the context ---- */

/* emit(stream, text): what the runtime's console writes. */
static js_value emit(js_context context, js_object function, js_object self, size_t count,
                     const js_value arguments[], js_value *exception)
{
    const struct engine *engine = current;
    size_t length = 0;
    char *text = count == 2 ? text_of(engine, arguments[1], &length) : NULL;
    (void)function, (void)self;
    if (text)
        output_add(&engine->run->output,
                   (int)engine->jsc->ValueToNumber(context, arguments[0], exception), text, length);
    free(text);
    return engine->jsc->ValueMakeUndefined(context);
}

/* places(): the function by which positions become those of what was written; called for the first
 * position that is told. */
static js_value places(js_context context, js_object function, js_object self, size_t count,
                       const js_value arguments[], js_value *exception)
{
    const struct engine *engine = current;
    char *source = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&source, &size);
    js_value made = engine->jsc->ValueMakeUndefined(context);
    (void)function, (void)self, (void)count, (void)arguments;
    if (!out)
        return made;
    fprintf(out, "(%s)([", embedded_text("javascript", "places.js"));
    for (size_t i = 0; i < engine->move_count; i++)
        fprintf(out, "[%zu,%zu,%zu],", engine->moves[i].line, engine->moves[i].column,
                engine->moves[i].by);
    fprintf(out, "],\"%s\")", engine->map ? engine->map : "");
    if (fclose(out) == 0)
        made = evaluate(engine, source, "", exception);
    free(source);
    return made;
}

/* What the function in a file of ours returns; NULL: it has thrown. */
static js_object call_file(const struct engine *engine, const char *name, size_t count,
                           const js_value arguments[])
{
    js_value exception = NULL;
    js_value function = evaluate(engine, embedded_text("javascript", name), "", &exception);
    if (exception || !engine->jsc->ValueIsObject(engine->context, function))
        return NULL;
    js_value made = engine->jsc->ObjectCallAsFunction(engine->context, function, NULL,
                                                      count, arguments, &exception);
    return exception ? NULL : made;
}

static bool make_context(struct engine *engine)
{
    const struct jsc *jsc = engine->jsc;
    engine->context = jsc->GlobalContextCreate(NULL);
    js_value limit = jsc->ValueMakeNumber(engine->context, (double)engine->run->value_limit);
    js_object tools = call_file(engine, "values.js", 1, &limit);
    js_value given[] = {jsc->ObjectMakeFunctionWithCallback(engine->context, NULL, emit), tools,
                        jsc->ObjectMakeFunctionWithCallback(engine->context, NULL, places)};
    engine->runtime = tools ? call_file(engine, "runtime.js", 3, given) : NULL;
    if (!engine->runtime)
        return false;
    js_value watcher = ask(engine, "watcher", NULL, NULL), exception = NULL;
    if (jsc->GlobalContextSetUnhandledRejectionCallback && watcher)
        jsc->GlobalContextSetUnhandledRejectionCallback(engine->context, watcher,
                                                        &exception);
    return true;
}

/* ---- the script ---- */

static void moved(struct engine *engine, const char *text, size_t at, size_t by)
{
    struct move move = {.line = 1, .column = 1, .by = by};
    for (size_t i = 0; i < at; i++) {
        move.column = text[i] == '\n' ? 1 : move.column + ((text[i] & 0xc0) != 0x80);
        move.line += text[i] == '\n';
    }
    engine->moves[engine->move_count++] = move;
}

/* "{…}" alone is an object for those who write it, and a block for the language. */
static char *object_form(struct engine *engine)
{
    const char *script = engine->script;
    char *form = NULL;
    if (script[strspn(script, " \t\r\n")] != '{' || asprintf(&form, "(%s\n)", script) < 0)
        return NULL;
    if (is_valid(engine, form)) {
        moved(engine, form, 0, 1);
        return form;
    }
    free(form);
    return NULL;
}

static bool is_declaration(const char *text)
{
    static const char *const words[] = {"function", "class", "async function", "{"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

#define ASYNC_BEGIN  "(async () => {"
#define ASYNC_END    "\n})()"
#define RETURN_BEGIN "return ("

/* The script in an async function; with statement `index` returned, unless that is -1.  NULL: it is
 * not valid like that. */
static char *async_form_at(struct engine *engine, const struct statements *found, int index)
{
    const char *script = engine->script;
    size_t start = index < 0 ? 0 : found->starts[index];
    char *form = NULL;
    int length;
    if (index < 0) { /* whether it is valid will be seen */
        return asprintf(&form, ASYNC_BEGIN "%s" ASYNC_END, script) < 0 ? NULL : form;
    } else {
        int tail = (int)(found->end - start);
        /* The last statement must be one expression by itself. */
        if (is_declaration(script + start) ||
            asprintf(&form, "async () => (%.*s\n)", tail, script + start) < 0)
            return NULL;
        bool is_expression = is_valid(engine, form);
        free(form);
        form = NULL;
        if (!is_expression)
            return NULL;
        length = asprintf(&form, ASYNC_BEGIN "%.*s" RETURN_BEGIN "%.*s\n);" ASYNC_END, (int)start,
                          script, tail, script + start);
    }
    if (length < 0)
        return NULL;
    if (is_valid(engine, form))
        return form;
    free(form);
    return NULL;
}

/* What is no valid script in this form either, tells better in it what is wrong. */
static char *async_form(struct engine *engine)
{
    struct statements found;
    char *best = async_form_at(engine, &found, -1);
    if (!best)
        return NULL;
    statements_find(&found, engine->script);
    moved(engine, best, 0, sizeof(ASYNC_BEGIN) - 1);
    int taken = -1;
    for (int i = (int)found.count - 1; i >= 0; i--) { /* the longest one is the statement */
        char *form = async_form_at(engine, &found, i);
        if (!form)
            continue;
        free(best);
        best = form;
        taken = i;
    }
    if (taken >= 0)
        moved(engine, best, sizeof(ASYNC_BEGIN) - 1 + found.starts[taken],
              sizeof(RETURN_BEGIN) - 1);
    return best;
}

/* What to evaluate when the script itself is not valid; from malloc(), or NULL. */
static char *other_form(struct engine *engine)
{
    return strstr(engine->script, "await") && !is_valid(engine, engine->script)
               ? async_form(engine)
               : NULL;
}

/* ---- the outcome ---- */

static void tell_end(struct engine *engine)
{
    size_t length = 0;
    js_value answer = ask(engine, "end", NULL, NULL);
    char *members = answer ? text_of(engine, answer, &length) : NULL;
    if (members)
        run_tell(engine->run, members, length);
    free(members);
}

static void *run_script(void *data)
{
    struct engine *engine = data;
    js_value exception = NULL;
    current = engine;
    if (!make_context(engine))
        return NULL;
    char *form = object_form(engine);
    js_value last = evaluate(engine, form ? form : engine->script, SCRIPT, &exception);
    if (exception && !form && (form = other_form(engine))) {
        exception = NULL;
        last = evaluate(engine, form, SCRIPT, &exception);
    }
    ask(engine, exception ? "error" : "value", exception ? exception : last, NULL);
    tell_end(engine);
    free(form);
    return NULL; /* the process ends: what the engine has is not taken apart */
}

bool javascript_run(struct run *run, const char *script, const char *map)
{
    const char *problem = NULL;
    struct engine engine = {.run = run, .script = script, .map = map, .jsc = jsc_load(&problem)};
    if (!engine.jsc) {
        mortise_fail_as(run->call, MORTISE_NOT_SUPPORTED, "execute_code.not_installed",
                        "JavaScript is not available: %s", problem);
        return false;
    }
    return run_on_thread(run, STACK_BYTES, run_script, &engine);
}
