/* Tools that do with a secret what none should: they tell it everywhere, and crash with it. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const mortise_host *the_host;

static const char *secret(void)
{
    const char *value = mortise_secrets_of(the_host)->get(the_host, "key");
    return value ? value : "none";
}

static void tell_watchers(mortise_call *call, const char *value)
{
    char sentence[256];
    snprintf(sentence, sizeof(sentence), "I hold %s now", value);
    mortise_log(the_host, MORTISE_LOG_WARNING, "the secret is %s", value);
    mortise_log(the_host, MORTISE_LOG_DEBUG, "the secret is %s", value);
    mortise_progress(call, 1, 2, sentence);
    mortise_emit(call, "stdout", sentence, strlen(sentence));
    mortise_emit(call, value, "in the label", strlen("in the label"));
}

MORTISE_TOOL(tell, MORTISE_READ_ONLY, "Tell a secret to everyone.",
    (string, how, "text, json, error or code.", fallback("text")));

static mortise_status tell(mortise_call *call, const tell_args *args)
{
    const char *value = secret();
    tell_watchers(call, value);
    if (strcmp(args->how, "json") == 0)
        return mortise_reply_json(call, "{\"key\": %s}", mortise_quote(call, value));
    if (strcmp(args->how, "error") == 0)
        return mortise_fail(call, "cannot log in with %s", value);
    if (strcmp(args->how, "code") == 0)
        return mortise_fail_as(call, MORTISE_UNAVAILABLE, value, "no");
    return mortise_reply(call, "logged in with %s", value);
}

MORTISE_TOOL(crash, 0, "Crash with a secret at hand.", MORTISE_NO_ARGS);

static mortise_status crash(mortise_call *call, const crash_args *args)
{
    (void)args;
    char *kept = strdup(secret());
    volatile char *guarded = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *guarded = kept ? kept[0] : 0;
    free(kept);
    return mortise_reply(call, "not reached");
}

MORTISE_TOOL(list_processes, MORTISE_READ_ONLY, "What ps shows of the host, and what a child has.",
    MORTISE_NO_ARGS);

static mortise_status list_processes(mortise_call *call, const list_processes_args *args)
{
    (void)args;
    char text[16384];
    secret();
    FILE *pipe = popen("tr '\\0' '\\n' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/self/cmdline;"
                       "echo; tr '\\0' '\\n' < /proc/self/environ", "re");
    if (!pipe)
        return mortise_fail(call, "there is no shell");
    size_t length = fread(text, 1, sizeof(text), pipe);
    pclose(pipe);
    return mortise_reply_text(call, text, length);
}

static void *keep_host(const mortise_host *host)
{
    the_host = host;
    return &the_host;
}

MORTISE_PLUGIN(.name = "canary", .open = keep_host,
               .tools = MORTISE_TOOLS(tell, crash, list_processes));
