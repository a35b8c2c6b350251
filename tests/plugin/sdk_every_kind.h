/*
 * A plugin that uses every kind, every option and every declaration of <mortise/tool.h>.
 * sdk_declarations.c looks at what they made; tests/abi compiles this file alone in each
 * standard of C.
 */
#include <mortise/tool.h>

#define SIZE_LIMIT 64

MORTISE_RECORD(point,
    (number, x, "To the right.", required),
    (number, y, "Up.",           required));

MORTISE_RECORD(shape,
    (string,  name,          "What it is called.", required, length(1, SIZE_LIMIT)),
    (records, points, point, "Its corners.",       required, at_least(3)));

MORTISE_TOOL(every_kind, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Takes everything.\nTwice.",
    (string,   text,          "A text.",         required, length(1, SIZE_LIMIT)),
    (string,   unit,          "A choice.",       one_of("words", "lines"), fallback("words")),
    (string,   quoted,        "Marks and tabs.", fallback("say \"hi\"\t\\")),
    (integer,  whole,         "A number.",       at_least(-1), at_most(10), fallback(-1)),
    (integer,  limit,         "From a macro.",   fallback(SIZE_LIMIT)),
    (number,   ratio,         "A fraction.",     at_least(0.5), fallback(0.75)),
    (boolean,  yes,           "True.",           fallback(true)),
    (boolean,  no,            "False.",          fallback(false)),
    (json,     anything,      "Any value.",      fallback("{\"deep\": [true, null]}")),
    (strings,  words,         "Texts.",          at_most(50), fallback("[\"a\", \"b\"]")),
    (integers, counts,        "Numbers.",        length(0, 9)),
    (numbers,  weights,       "Fractions.",      required),
    (booleans, switches,      "Truths.",         fallback("[true]")),
    (record,   at, point,     "One place.",      required),
    (records,  shapes, shape, "Some shapes.",    at_most(2)));

static mortise_status every_kind(mortise_call *call, const every_kind_args *args)
{
    double x = args->at.x;
    for (size_t i = 0; i < args->shapes.count; i++) {
        for (size_t j = 0; j < args->shapes.items[i].points.count; j++)
            x += args->shapes.items[i].points.items[j].x;
    }
    if (args->words.count > 0 && args->switches.count > 0 && args->switches.items[0])
        return mortise_reply(call, "%s %s", args->words.items[0], args->text);
    return mortise_reply(call, "%g %d", x, args->seen.whole);
}

MORTISE_TOOL(nothing_at_all, 0, NULL, MORTISE_NO_ARGS);

static mortise_status nothing_at_all(mortise_call *call, const nothing_at_all_args *args)
{
    (void)args;
    return mortise_reply(call, "nothing");
}

MORTISE_TOOL_WITH(renamed,
    (name("other-name"), title("Another name"), scopes("files:read", "files:list"),
     output_schema("{\"type\":\"object\"}")),
    MORTISE_LONG_RUNNING, "Has more to say.",
    (string, text, "A text."));

static mortise_status renamed(mortise_call *call, const renamed_args *args)
{
    return mortise_reply_json(call, "{\"text\":%s}",
                              mortise_quote(call, args->text ? args->text : ""));
}

MORTISE_TOOL_RAW(raw, MORTISE_DESTRUCTIVE, "Reads its JSON itself.",
    "{\"type\":\"object\",\"required\":[\"a\"]}");

static mortise_status raw(mortise_call *call, const char *json)
{
    return mortise_reply_json(call, "%s", json);
}

MORTISE_TOOL_RAW_WITH(raw_with, (title("Raw, with a title")), 0, "Reads its JSON itself.",
    "{\"type\":\"object\"}");

static mortise_status raw_with(mortise_call *call, const char *json)
{
    return mortise_fail_as(call, MORTISE_MISSING, "raw.missing", "not found: %s", json);
}

/* As many fields as there can be. */
MORTISE_TOOL(thirty_two, 0, "Takes 32.",
    (integer, a1, "."), (integer, a2, "."), (integer, a3, "."), (integer, a4, "."),
    (integer, a5, "."), (integer, a6, "."), (integer, a7, "."), (integer, a8, "."),
    (integer, a9, "."), (integer, a10, "."), (integer, a11, "."), (integer, a12, "."),
    (integer, a13, "."), (integer, a14, "."), (integer, a15, "."), (integer, a16, "."),
    (integer, a17, "."), (integer, a18, "."), (integer, a19, "."), (integer, a20, "."),
    (integer, a21, "."), (integer, a22, "."), (integer, a23, "."), (integer, a24, "."),
    (integer, a25, "."), (integer, a26, "."), (integer, a27, "."), (integer, a28, "."),
    (integer, a29, "."), (integer, a30, "."), (integer, a31, "."), (integer, a32, "."));

static mortise_status thirty_two(mortise_call *call, const thirty_two_args *args)
{
    return mortise_fail(call, "%d", (int)(args->a1 + args->a32));
}

static mortise_verdict look(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    if (state && event->index > 0)
        return MORTISE_CONTINUE;
    mortise_hook_reason(hook, "call %u", event->index);
    return MORTISE_SKIP;
}

static mortise_verdict go_on(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    (void)state;
    (void)event;
    return mortise_hook_append_text(hook, "user", "go \"on\"") == MORTISE_OK ? MORTISE_CONTINUE_WITH
                                                                             : MORTISE_HOOK_FAILED;
}

MORTISE_HOOK(watch, .priority = 10, .pre_tool_call = look);
MORTISE_HOOK(persist, .turn_end = go_on);

/* What open() and close() are asked to do, and what they did. */
static int opened, closed;
static bool refuse_to_open;

static void *open_it(const mortise_host *host)
{
    opened++;
    return refuse_to_open ? mortise_refuse(host, "no %s today", "luck") : &opened;
}

static void close_it(void *state)
{
    closed += state == &opened;
}

MORTISE_PLUGIN(.name = "every-kind", .version = "1.2.3",
               .tools = MORTISE_TOOLS(every_kind, nothing_at_all, renamed, raw, raw_with,
                                      thirty_two),
               .hooks = MORTISE_HOOKS(watch, persist), .open = open_it, .close = close_it,
               .state_tag = "every-kind/1");
