#include "javascript.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "engine.h"
#include "statement.h"

enum { STACK_BYTES = 8 << 20 }; /* the engine takes 5 MiB of it and then throws a RangeError */

#define SCRIPT "script" /* by which errors.js knows the script's own positions */

const char *javascript_prepare(void)
{
    return engine_make();
}

/* ---- the script ---- */

static void moved(struct engine_script *script, const char *text, size_t at, size_t by)
{
    struct engine_move move = {.line = 1, .column = 1, .by = by};
    for (size_t i = 0; i < at; i++) {
        move.column = text[i] == '\n' ? 1 : move.column + ((text[i] & 0xc0) != 0x80);
        move.line += text[i] == '\n';
    }
    script->moves[script->move_count++] = move;
}

/* "{…}" alone is an object for those who write it, and a block for the language. */
static char *object_form(struct engine_script *script)
{
    const char *text = script->text;
    char *form = NULL;
    if (text[strspn(text, " \t\r\n")] != '{' || asprintf(&form, "(%s\n)", text) < 0)
        return NULL;
    if (engine_is_valid(form)) {
        moved(script, form, 0, 1);
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

/* The script in an async function that returns the statement from `start` to `end`; NULL: that is
 * not one expression by itself. */
static char *returning(const char *script, size_t start, size_t end)
{
    char *form = NULL;
    int tail = (int)(end - start);
    if (is_declaration(script + start) ||
        asprintf(&form, "async () => (%.*s\n)", tail, script + start) < 0)
        return NULL;
    bool is_good = engine_is_valid(form);
    free(form);
    if (!is_good || asprintf(&form, ASYNC_BEGIN "%.*s" RETURN_BEGIN "%.*s\n);" ASYNC_END,
                             (int)start, script, tail, script + start) < 0)
        return NULL;
    if (engine_is_valid(form))
        return form;
    free(form);
    return NULL;
}

/* What is no valid script in this form either, tells better in it what is wrong. */
static char *async_form(struct engine_script *script)
{
    struct statements found;
    char *best = NULL;
    int taken = -1;
    if (asprintf(&best, ASYNC_BEGIN "%s" ASYNC_END, script->text) < 0)
        return NULL;
    statements_find(&found, script->text);
    moved(script, best, 0, sizeof(ASYNC_BEGIN) - 1);
    for (int i = (int)found.count - 1; i >= 0; i--) { /* the longest one is the statement */
        char *form = returning(script->text, found.starts[i], found.end);
        if (!form)
            continue;
        free(best);
        best = form;
        taken = i;
    }
    if (taken >= 0)
        moved(script, best, sizeof(ASYNC_BEGIN) - 1 + found.starts[taken],
              sizeof(RETURN_BEGIN) - 1);
    return best;
}

/* What to evaluate when the script itself is not valid; from malloc(), or NULL. */
static char *other_form(struct engine_script *script)
{
    return strstr(script->text, "await") && !engine_is_valid(script->text) ? async_form(script)
                                                                          : NULL;
}

/* ---- running it ---- */

static void tell_end(struct run *run)
{
    size_t length = 0;
    js_value answer = engine_ask("end", NULL);
    char *members = answer ? engine_text(answer, &length) : NULL;
    if (members)
        run_tell(run, members, length);
    free(members);
}

static void *run_script(void *data)
{
    struct engine_script *script = data;
    js_value exception = NULL;
    engine_begin(script);
    engine_ask("limit", engine_number((double)script->run->value_limit));
    char *form = object_form(script);
    js_value last = engine_evaluate(form ? form : script->text, SCRIPT, &exception);
    if (exception && !form && (form = other_form(script))) {
        exception = NULL;
        last = engine_evaluate(form, SCRIPT, &exception);
    }
    engine_ask(exception ? "error" : "value", exception ? exception : last);
    tell_end(script->run);
    free(form);
    return NULL; /* the process ends: what the engine has is not taken apart */
}

bool javascript_run(struct run *run, const char *text, const char *map)
{
    struct engine_script script = {.run = run, .text = text, .map = map};
    const char *problem = engine_make();
    if (problem) {
        mortise_fail_as(run->call, MORTISE_NOT_SUPPORTED, "execute_code.not_installed",
                        "JavaScript is not available: %s", problem);
        return false;
    }
    return run_on_thread(run, STACK_BYTES, run_script, &script);
}
