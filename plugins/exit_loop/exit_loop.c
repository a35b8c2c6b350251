/* A loop that the model ends: an answer without exit_loop is followed by "go on", and a call of
 * exit_loop by one last answer. */
#include <mortise/tool.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENDED = 256, ID_BYTES = 64, LAST_REQUESTS = 3 };

struct exit_loop {
    const mortise_host *host;
    int64_t max_iterations; /* 0: not configured */
    char prompt[4096];
    mortise_runs runs;
    pthread_mutex_t lock; /* for what follows */
    char ended[MAX_ENDED][ID_BYTES]; /* runs whose hooks were not asked since; "": none */
    size_t next;
};

struct run {
    int64_t iterations;     /* answers that did not end the loop */
    int64_t last_requests;  /* since it ended */
    bool is_ended;
    bool is_answered;       /* after that */
};

/* ---- from the tool, which has no state of its run, to the hooks, which have ------------------ */

static void note_end(struct exit_loop *self, const char *invocation)
{
    if (!invocation || strlen(invocation) >= ID_BYTES)
        return;
    pthread_mutex_lock(&self->lock);
    strcpy(self->ended[self->next++ % MAX_ENDED], invocation);
    pthread_mutex_unlock(&self->lock);
}

static bool take_end(struct exit_loop *self, const char *invocation)
{
    bool taken = false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; invocation && i < MAX_ENDED; i++)
        if (strcmp(self->ended[i], invocation) == 0 && *invocation) {
            self->ended[i][0] = '\0';
            taken = true;
        }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

/* ---- the tool ------------------------------------------------------------------------------ */

MORTISE_TOOL(exit_loop, MORTISE_CONCURRENCY_SAFE | MORTISE_IDEMPOTENT,
    "End the loop that you are in: call this once all is done, or when you cannot get any further. "
    "No other tool runs after it; you then give one last answer.",
    (string, result, "What the loop came to: the last answer is to say this.", length(0, 65536)),
    (string, reason, "Why it ends, such as \"all tests pass\".", length(0, 2000)));

static mortise_status exit_loop(mortise_call *call, const exit_loop_args *args)
{
    note_end(mortise_state(call), mortise_context(call, "invocation"));
    return mortise_reply(call, "The loop has ended. Answer now, without calling a tool: %s.",
                         args->result && *args->result ? "give the result that you passed"
                                                       : "say what came of it");
}

/* ---- the hooks ------------------------------------------------------------------------------ */

static struct run *run_of(struct exit_loop *self, mortise_hook *hook)
{
    struct run *run = mortise_run_state(&self->runs, hook, sizeof(*run));
    if (!run)
        mortise_hook_reason(hook, "out of memory");
    else if (take_end(self, mortise_hook_context(hook, "invocation")))
        run->is_ended = true;
    return run;
}

/* After an answer only another hook can have sent the model on, and that is for it to end. */
static mortise_verdict pre_llm_request(void *state, mortise_hook *hook,
                                       const mortise_pre_llm_request *event)
{
    struct run *run = run_of(state, hook);
    (void)event;
    if (!run)
        return MORTISE_HOOK_FAILED;
    if (run->is_answered)
        *run = (struct run){.iterations = run->iterations};
    if (!run->is_ended || ++run->last_requests <= LAST_REQUESTS)
        return MORTISE_CONTINUE;
    mortise_hook_reason(hook, "the model called exit_loop, and then only tools instead of answering");
    return MORTISE_ABORT;
}

static mortise_verdict pre_tool_call(void *state, mortise_hook *hook,
                                     const mortise_pre_tool_call *event)
{
    struct run *run = run_of(state, hook);
    (void)event;
    if (!run)
        return MORTISE_HOOK_FAILED;
    if (!run->is_ended)
        return MORTISE_CONTINUE;
    mortise_hook_reason(hook, "the loop has ended, by exit_loop: answer without calling a tool");
    return MORTISE_SKIP;
}

static mortise_verdict turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    struct exit_loop *self = state;
    struct run *run = run_of(self, hook);
    (void)event;
    if (!run)
        return MORTISE_HOOK_FAILED;
    run->is_answered = run->is_ended;
    if (run->is_ended)
        return MORTISE_CONTINUE;
    if (++run->iterations < self->max_iterations)
        return mortise_hook_append_text(hook, "user", self->prompt) == MORTISE_OK
                   ? MORTISE_CONTINUE_WITH
                   : MORTISE_HOOK_FAILED;
    if (self->max_iterations > 1 && run->iterations == self->max_iterations)
        mortise_log(self->host, MORTISE_LOG_WARNING,
                    "exit_loop: the model did not call it in %lld answers; the last one stands",
                    (long long)self->max_iterations);
    return MORTISE_CONTINUE;
}

/* Early: nobody is asked whether a call may run that does not, and what looks at an answer gets the
 * last one. */
MORTISE_HOOK(exit_loop, .priority = -100, .pre_llm_request = pre_llm_request,
    .pre_tool_call = pre_tool_call, .turn_end = turn_end);

/* ---- the plugin ---------------------------------------------------------------------------- */

static bool wants_tool(const void *state, const mortise_tool *tool)
{
    (void)tool;
    return ((const struct exit_loop *)state)->max_iterations > 0;
}

static bool wants(const void *state, const mortise_hooks *hooks)
{
    (void)hooks;
    return ((const struct exit_loop *)state)->max_iterations > 0;
}

static void exit_loop_close(void *state)
{
    struct exit_loop *self = state;
    mortise_runs_release(&self->runs);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static bool read_config(const mortise_host *host, struct exit_loop *self)
{
    mortise_status status = mortise_config_integer(host, "max_iterations", &self->max_iterations);
    if (status == MORTISE_INVALID || (status == MORTISE_OK && self->max_iterations < 1)) {
        mortise_refuse(host, "\"max_iterations\" is not a count from 1 up");
        return false;
    }
    strcpy(self->prompt, "Go on. When all is done, call exit_loop.");
    status = mortise_config_string(host, "prompt", self->prompt, sizeof(self->prompt));
    if (status == MORTISE_INVALID || !*self->prompt) {
        mortise_refuse(host, "\"prompt\" is not a text of less than %zu bytes",
                       sizeof(self->prompt));
        return false;
    }
    return true;
}

static void *exit_loop_open(const mortise_host *host)
{
    struct exit_loop *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->host = host;
    pthread_mutex_init(&self->lock, NULL);
    if (!read_config(host, self)) {
        exit_loop_close(self);
        return NULL;
    }
    if (!self->max_iterations)
        mortise_log(host, MORTISE_LOG_DEBUG,
                    "exit_loop: off, until \"max_iterations\" is configured");
    return self;
}

MORTISE_PLUGIN(.name = "exit_loop", .version = "1.0.0", .tools = MORTISE_TOOLS(exit_loop),
               .hooks = MORTISE_HOOKS(exit_loop), .wants = wants, .wants_tool = wants_tool,
               .open = exit_loop_open, .close = exit_loop_close);
