/* Remembers texts of the user, and finds them by their words. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LIST_BYTES = 48 << 10 }; /* of a result: the host shows 64 KiB */

MORTISE_TOOL(memory_add, MORTISE_CONCURRENCY_SAFE,
    "Remember a text about the user or their work, to be found again in later conversations.",
    (string, text, "What to remember, in words that tell what it is about.", required,
                   length(1, 16000)));

MORTISE_TOOL(memory_search, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Find what was remembered, by words that occur in it. The result is a JSON list, best first.",
    (string,  query, "Words to look for.", required, length(1, 1000)),
    (integer, limit, "How many at most.", range(1, 50), fallback(10)));

static mortise_status memory_add(mortise_call *call, const memory_add_args *args)
{
    const mortise_memory *memory = mortise_memory_of(call);
    int64_t id = 0;
    if (!memory)
        return mortise_fail(call, "nothing can be remembered here");
    mortise_status status = memory->add(call, args->text, strlen(args->text), &id);
    return status < 0 ? status : mortise_reply_json(call, "{\"id\":%" PRId64 "}", id);
}

/* "2030-01-31", in UTC. */
static void put_day(char *out, size_t size, int64_t saved_ms)
{
    time_t seconds = (time_t)(saved_ms / 1000);
    struct tm day;
    if (!gmtime_r(&seconds, &day) || !strftime(out, size, "%Y-%m-%d", &day))
        out[0] = '\0';
}

static mortise_status reply(mortise_call *call, const mortise_memory_entry *const *entries,
                            size_t count)
{
    size_t size = sizeof("[]"), used = 1;
    for (size_t i = 0; i < count; i++)
        size += entries[i]->length * 6 + 100; /* of a control character six come */
    char *list = mortise_alloc(call, size), day[16];
    if (!list)
        return MORTISE_NO_MEMORY;
    list[0] = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && used + entries[i]->length > LIST_BYTES)
            break;
        put_day(day, sizeof(day), entries[i]->saved_ms);
        used += (size_t)snprintf(list + used, size - used,
                                 "%s{\"id\":%" PRId64 ",\"saved\":\"%s\",\"text\":", i ? "," : "",
                                 entries[i]->id, day);
        used += mortise_json_quote(list + used, size - used, entries[i]->text, entries[i]->length);
        list[used++] = '}';
    }
    memcpy(list + used, "]", 2);
    return mortise_reply_json(call, "%s", list);
}

static mortise_status memory_search(mortise_call *call, const memory_search_args *args)
{
    const mortise_memory *memory = mortise_memory_of(call);
    const mortise_memory_entry *const *entries = NULL;
    size_t count = 0;
    if (!memory)
        return mortise_fail(call, "nothing can be remembered here");
    mortise_status status =
        memory->search(call, args->query, (size_t)args->limit, &entries, &count);
    return status < 0 ? status : reply(call, entries, count);
}

MORTISE_PLUGIN(.name = "memory", .version = "1.0.0",
               .tools = MORTISE_TOOLS(memory_add, memory_search));
