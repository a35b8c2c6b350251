/* Runs code that a model wrote: JavaScript, TypeScript and Python, each call in a process of its
 * own inside the sandbox. */
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "language.h"
#include "output.h"
#include "run.h"

struct execute_code {
    int64_t output_bytes, value_bytes;
};

/* In the process that calls are copied from. */
static mortise_status prepare(const mortise_tool *self, const mortise_host *host)
{
    (void)self, (void)host;
    language_prepare();
    return MORTISE_OK; /* a language that is missing is an error of the calls that need it */
}

MORTISE_TOOL_WITH(execute_code,
    (title("Execute code"), prepare(prepare), reads("/usr/share/zoneinfo"),
     runs("/usr/bin/esbuild", "/usr/local/bin/esbuild"), inside(MORTISE_INSIDE_PROCESSES),
     examples("{\"code\": \"[1, 2, 3].map(x => x * x)\"}",
              "{\"code\": \"import math\\nmath.factorial(20)\", \"language\": \"python\"}"),
     output_schema("{\"type\":\"object\",\"required\":[\"value\",\"stdout\",\"stderr\",\"artifacts\"]}")),
    MORTISE_SANDBOX_REQUIRED | MORTISE_CONCURRENCY_SAFE,
    "Run code in a sandbox and get the value of its last expression and what it printed. There is "
    "no network, no package and no file but those that the code itself writes: in Python, files "
    "that are left in the current folder are kept as artifacts. Nothing is remembered from one "
    "call to the next, and a call has a few seconds.",
    (string, code,     "The code. The value of its last expression is the result; console.log() and "
                       "print() are told as well.", required, length(1, 200000)),
    (string, language, "What it is written in. JavaScript and TypeScript are the language alone (no "
                       "modules, timers, process, fetch); Python has its standard library.",
                       one_of("javascript", "typescript", "python"), fallback("javascript")));

/* ---- one call ---- */

static void write_stream(const struct run *run, FILE *out, int stream)
{
    size_t length = 0;
    const char *text = output_text(&run->output, stream, &length);
    size_t size = text ? mortise_json_quote(NULL, 0, text, length) + 1 : 0;
    char *quoted = text ? malloc(size) : NULL;
    if (quoted)
        mortise_json_quote(quoted, size, text, length);
    fprintf(out, ",\"%s\":%s", stream == 1 ? "stdout" : "stderr", quoted ? quoted : "\"\"");
    free(quoted);
}

/* The whole result as JSON, from malloc(); NULL: there is no memory. */
static char *result_of(const struct run *run)
{
    char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    if (!out)
        return NULL;
    fprintf(out, "{%s", run->outcome);
    write_stream(run, out, 1);
    write_stream(run, out, 2);
    fputs(",\"artifacts\":", out);
    files_save(run->call, out);
    fputc('}', out);
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        free(json);
        return NULL;
    }
    return json;
}

/* The error in a line, for people, and all that is known of the run behind it. */
static mortise_status fail(const struct run *run, const char *error, const char *json)
{
    const char *type = NULL, *message = NULL;
    int64_t line = 0, column = 0;
    char place[64] = "";
    mortise_json_text(run->call, error, "type", &type);
    mortise_json_text(run->call, error, "message", &message);
    mortise_json_integer(error, "line", &line);
    mortise_json_integer(error, "column", &column);
    if (line > 0 && column > 0)
        snprintf(place, sizeof(place), " (line %" PRId64 ", column %" PRId64 ")", line, column);
    else if (line > 0)
        snprintf(place, sizeof(place), " (line %" PRId64 ")", line);
    bool is_syntax = type && strcmp(type, "SyntaxError") == 0;
    return mortise_fail_as(run->call, MORTISE_INTERNAL,
                           is_syntax ? "execute_code.syntax" : "execute_code.exception",
                           "%s%s%s%s\n%s", type ? type : "Error",
                           message && *message ? ": " : "", message ? message : "", place, json);
}

static mortise_status execute_code(mortise_call *call, const execute_code_args *args)
{
    const struct execute_code *self = mortise_state(call);
    struct run *run = mortise_alloc(call, sizeof(*run));
    const char *error = NULL;
    if (!run)
        return MORTISE_NO_MEMORY;
    run->call = call;
    run->code = args->code;
    run->value_limit = (size_t)self->value_bytes;
    if (!output_begin(&run->output, call, (size_t)self->output_bytes))
        return MORTISE_NO_MEMORY;
    bool went = language_run(run, args->language);
    output_end(&run->output);
    if (!went && !run->outcome)
        return MORTISE_FAILED;
    if (!run->outcome)
        return mortise_fail(call, "the code has broken the interpreter that ran it: it is not known "
                                  "what became of it");
    char *json = result_of(run);
    if (!json)
        return MORTISE_NO_MEMORY;
    mortise_status status = mortise_json_object(json, "error", &error) == MORTISE_OK
                                ? fail(run, error, json)
                                : mortise_reply_json(call, "%s", json);
    free(json);
    return status;
}

/* ---- the plugin ---- */

static bool read_bytes(const mortise_host *host, const char *key, int64_t *out)
{
    if (mortise_config_integer(host, key, out) != MORTISE_INVALID && *out >= 256 && *out <= 1 << 20)
        return true;
    mortise_refuse(host, "\"%s\" is not a number from 256 to 1048576", key);
    return false;
}

static void *execute_code_open(const mortise_host *host)
{
    struct execute_code *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    *self = (struct execute_code){.output_bytes = 16 << 10, .value_bytes = 16 << 10};
    if (!read_bytes(host, "output_bytes", &self->output_bytes) ||
        !read_bytes(host, "value_bytes", &self->value_bytes)) {
        free(self);
        return NULL;
    }
    return self;
}

MORTISE_PLUGIN(.name = "execute_code", .version = "1.0.0", .tools = MORTISE_TOOLS(execute_code),
               .open = execute_code_open, .close = free);
