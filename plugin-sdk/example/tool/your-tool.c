/* A tool that a model can call: say what it takes, then do the work. */
#include <mortise/tool.h>

#include <string.h>

enum { MOST_BYTES = 10000 };

MORTISE_TOOL_WITH(your_tool, (name("your-tool")), MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Repeat a text.",
    (string,  text,    "What to repeat.",      required),
    (integer, times,   "How often.",           range(1, 100), fallback(2)),
    (string,  between, "What stands between.", one_of("space", "comma", "line"), fallback("space")));

/* The arguments are valid when this runs; each call has a thread of its own. */
static mortise_status your_tool(mortise_call *call, const your_tool_args *args)
{
    const char *between = strcmp(args->between, "comma") == 0  ? ", "
                          : strcmp(args->between, "line") == 0 ? "\n"
                                                               : " ";
    size_t length = strlen(args->text), gap = strlen(between), used = 0;
    size_t all = (length + gap) * (size_t)args->times - gap;
    if (all > MOST_BYTES)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "your-tool.too_long",
                               "that would be %zu bytes and %d are the most: repeat it less often",
                               all, MOST_BYTES);

    char *out = mortise_alloc(call, all + 1); /* gone with the call */
    if (!out)
        return mortise_fail(call, "out of memory");
    for (int64_t i = 0; i < args->times; i++) {
        if (mortise_cancelled(call)) /* in every loop that may take long */
            return MORTISE_CANCELLED;
        if (i > 0) {
            memcpy(out + used, between, gap);
            used += gap;
        }
        memcpy(out + used, args->text, length);
        used += length;
    }
    return mortise_reply_text(call, out, used);
}

MORTISE_PLUGIN(.name = "your-tool", .version = "0.1.0", .tools = MORTISE_TOOLS(your_tool));
