#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "embedded.h"

enum {
    STACK_BYTES = 8 << 20,
    FIRST_FD = 200, /* its descriptors are from here on, where nobody else has any … */
    MOST_FDS = 8    /* … and so many at most */
};

/* One in a process. */
static struct {
    const struct jsc *jsc;
    js_context context;
    js_object runtime; /* the function of runtime.js */
    struct engine_script *script;
    uint64_t random[4];
    bool fds[MOST_FDS];
} engine;

/* ---- values ---- */

static js_string string_of(const char *text)
{
    return engine.jsc->StringCreateWithUTF8CString(text);
}

char *engine_text(js_value value, size_t *length)
{
    const struct jsc *jsc = engine.jsc;
    js_value exception = NULL;
    js_string string = jsc->ValueToStringCopy(engine.context, value, &exception);
    if (!string)
        return NULL;
    size_t size = jsc->StringGetMaximumUTF8CStringSize(string);
    char *text = malloc(size);
    size_t used = text ? jsc->StringGetUTF8CString(string, text, size) : 0;
    jsc->StringRelease(string);
    *length = used ? used - 1 : 0;
    return text;
}

js_value engine_number(double number)
{
    return engine.jsc->ValueMakeNumber(engine.context, number);
}

js_value engine_evaluate(const char *text, const char *name, js_value *exception)
{
    js_string script = string_of(text), url = string_of(name);
    js_value value = engine.jsc->EvaluateScript(engine.context, script, NULL, url, 1, exception);
    engine.jsc->StringRelease(url);
    engine.jsc->StringRelease(script);
    return value;
}

bool engine_is_valid(const char *text)
{
    js_string script = string_of(text);
    bool valid = engine.jsc->CheckScriptSyntax(engine.context, script, NULL, 1, NULL);
    engine.jsc->StringRelease(script);
    return valid;
}

js_value engine_ask(const char *want, js_value value)
{
    js_string name = string_of(want);
    js_value arguments[] = {engine.jsc->ValueMakeString(engine.context, name), value};
    js_value exception = NULL;
    js_value answer = engine.jsc->ObjectCallAsFunction(engine.context, engine.runtime, NULL,
                                                       value ? 2 : 1, arguments, &exception);
    engine.jsc->StringRelease(name);
    return exception ? NULL : answer;
}

/* ---- functions for runtime.js ---- */

#define CALLBACK(name)                                                                             \
    static js_value name(js_context context, js_object function, js_object self, size_t count,     \
                         const js_value arguments[], js_value *exception)

/* emit(stream, text): what the console writes. */
CALLBACK(emit)
{
    size_t length = 0;
    char *text = count == 2 ? engine_text(arguments[1], &length) : NULL;
    (void)function, (void)self;
    if (text)
        output_add(&engine.script->run->output,
                   (int)engine.jsc->ValueToNumber(context, arguments[0], exception), text, length);
    free(text);
    return engine.jsc->ValueMakeUndefined(context);
}

/* places(): the function by which positions become those of what was written; called for the first
 * position that is told. */
CALLBACK(places)
{
    const struct engine_script *script = engine.script;
    char *source = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&source, &size);
    js_value made = engine.jsc->ValueMakeUndefined(context);
    (void)function, (void)self, (void)count, (void)arguments;
    if (!out)
        return made;
    fprintf(out, "(%s)([", embedded_text("javascript", "places.js"));
    for (size_t i = 0; i < script->move_count; i++)
        fprintf(out, "[%zu,%zu,%zu],", script->moves[i].line, script->moves[i].column,
                script->moves[i].by);
    fprintf(out, "],\"%s\")", script->map ? script->map : "");
    if (fclose(out) == 0)
        made = engine_evaluate(source, "", exception);
    free(source);
    return made;
}

static uint64_t rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

/* Math.random(): the engine's own would give each call the same numbers.  xoshiro256+ */
CALLBACK(random_number)
{
    uint64_t *state = engine.random, sum = state[0] + state[3], shifted = state[1] << 17;
    (void)function, (void)self, (void)count, (void)arguments, (void)exception;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return engine.jsc->ValueMakeNumber(context, (double)(sum >> 11) * 0x1p-53);
}

/* ---- making it ---- */

static js_value function_of(const char *name, js_callback callback)
{
    js_string string = string_of(name);
    js_value made = engine.jsc->ObjectMakeFunctionWithCallback(engine.context, string, callback);
    engine.jsc->StringRelease(string);
    return made;
}

static void make_runtime(void)
{
    js_value exceptions[3] = {NULL, NULL, NULL}, exception = NULL;
    js_value make = engine_evaluate(embedded_text("javascript", "runtime.js"), "", &exceptions[0]);
    js_value given[] = {
        function_of("emit", emit), function_of("places", places),
        function_of("random", random_number),
        engine_evaluate(embedded_text("javascript", "values.js"), "", &exceptions[1]),
        engine_evaluate(embedded_text("javascript", "errors.js"), "", &exceptions[2])};
    if (exceptions[0] || exceptions[1] || exceptions[2])
        return;
    engine.runtime = engine.jsc->ObjectCallAsFunction(engine.context, make, NULL, 5, given,
                                                      &exception);
    if (exception)
        engine.runtime = NULL;
    else
        engine.jsc->ValueProtect(engine.context, engine.runtime); /* nothing else holds it */
    if (!engine.runtime || !engine.jsc->GlobalContextSetUnhandledRejectionCallback)
        return;
    js_value watcher = engine_ask("watcher", NULL);
    if (watcher)
        engine.jsc->GlobalContextSetUnhandledRejectionCallback(engine.context, watcher, &exception);
}

/* Takes all descriptors below FIRST_FD, so that the engine gets others: in a call those of the
 * process before are closed, and it must not use what has got their numbers then. */
static size_t take_fds(int taken[FIRST_FD])
{
    size_t count = 0;
    int fd;
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && fd < FIRST_FD)
        taken[count++] = fd;
    if (fd >= FIRST_FD)
        close(fd);
    return count;
}

static void *make(void *data)
{
    int taken[FIRST_FD];
    size_t count = take_fds(taken);
    (void)data;
    engine.context = engine.jsc->GlobalContextCreate(NULL);
    make_runtime();
    for (int i = 0; i < MOST_FDS; i++)
        engine.fds[i] = fcntl(FIRST_FD + i, F_GETFD) >= 0;
    for (size_t i = 0; i < count; i++)
        close(taken[i]);
    return NULL;
}

const char *engine_make(void)
{
    const char *problem = NULL;
    pthread_attr_t attributes;
    pthread_t thread;
    if (engine.runtime)
        return NULL;
    if (!engine.jsc && !(engine.jsc = jsc_load(&problem)))
        return problem;
    /* On a thread that ends: the engine remembers those that were in it. */
    if (!engine.context && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        if (pthread_create(&thread, &attributes, make, NULL) == 0)
            pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
    }
    return engine.runtime ? NULL : "the JavaScriptCore that is installed does not work here";
}

/* ---- a call ---- */

static bool is_random_device(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 9);
}

void engine_begin(struct engine_script *script)
{
    engine.script = script;
    if (getrandom(engine.random, sizeof(engine.random), 0) != (ssize_t)sizeof(engine.random))
        engine.random[0] = (uint64_t)getpid(); /* no such call, so no good numbers either */
    /* What wakes its sleepers, of whom there are none, would be shared with other calls. */
    for (int i = 0; i < MOST_FDS; i++)
        if (engine.fds[i] && !is_random_device(FIRST_FD + i))
            close(FIRST_FD + i);
}
