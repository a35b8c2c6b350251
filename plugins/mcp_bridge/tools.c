#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>

#include "buffer.h"
#include "input.h"
#include "result.h"

/* A tool of the host's. */
struct bridged {
    struct session *session;
    const struct server_config *config;
    const mortise_host *host;
    char *name; /* as the server has it */
    char *schema;
    bool has_output_schema, may_repeat;
};

static void release(void *data)
{
    struct bridged *tool = data;
    free(tool->name);
    free(tool->schema);
    free(tool);
}

/* ---- a call ---- */

static mortise_status give_failure(mortise_call *call, const struct answer *answer)
{
    if (answer->status == MORTISE_CANCELLED || answer->status == MORTISE_NO_MEMORY)
        return answer->status;
    return mortise_fail_retry(call, answer->category, "mcp.failed", answer->retry_ms, "%s",
                              answer->problem);
}

/* What it brought.  True: it has to be asked again, with `more`. */
static bool take_answer(mortise_call *call, const struct bridged *tool, const struct answer *answer,
                        struct buffer *more, bool is_last, mortise_status *status)
{
    const struct result_source source = {.server = tool->config->name,
                                         .has_output_schema = tool->has_output_schema};
    char problem[512];
    if (answer->status != MORTISE_OK) {
        *status = give_failure(call, answer);
    } else if (answer->error) {
        *status = result_give_error(call, &source, answer->error);
    } else if (!result_wants_input(answer->result)) {
        *status = result_give(call, &source, answer->result);
    } else {
        buffer_clear(more);
        if (!is_last && input_answer(answer->result, more, problem, sizeof(problem)))
            return true;
        *status = mortise_fail_as(call, MORTISE_NOT_SUPPORTED, "mcp.input_required",
                                  "MCP server '%s' wants input: %s", tool->config->name,
                                  is_last ? "again and again" : problem);
    }
    return false;
}

static mortise_status run(mortise_call *call, const char *json, void *data)
{
    const struct bridged *tool = data;
    struct buffer more = BUFFER_INIT;
    struct answer answer;
    struct request request = {.host = tool->host,
                              .name = tool->name,
                              .arguments = json,
                              .schema = tool->schema,
                              .may_repeat = tool->may_repeat};
    mortise_status status = MORTISE_FAILED;
    bool goes_on = true;
    for (int round = 0; goes_on; round++) {
        session_call(tool->session, call, &request, &answer);
        goes_on = take_answer(call, tool, &answer, &more, round == INPUT_ROUNDS, &status);
        answer_release(&answer);
        request.more = more.text;
    }
    buffer_release(&more);
    return status;
}

/* ---- names ---- */

static const struct given_name *find(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i].name, name) == 0)
            return &names->items[i];
    return NULL;
}

static bool is_of(const struct given_name *given, const struct server_config *server,
                  const char *tool)
{
    return given && given->server == server && strcmp(given->tool, tool) == 0;
}

/* What it will be called; NULL: it is there twice, or there is no memory. */
static const char *take_name(struct names *names, const struct server_config *server,
                             const char *tool)
{
    char name[NAME_SIZE];
    name_make(name, server->name, tool);
    const struct given_name *other = find(names, name);
    if (is_of(other, server, tool))
        return NULL;
    if (other)
        name_make_other(name, server->name, tool);
    if (other && find(names, name))
        return NULL;
    struct given_name *items = realloc(names->items, (names->count + 1) * sizeof(*items));
    if (!items)
        return NULL;
    names->items = items;
    struct given_name *given = &items[names->count];
    memcpy(given->name, name, sizeof(name));
    given->server = server;
    given->tool = strdup(tool);
    names->count += given->tool != NULL;
    return given->tool ? given->name : NULL;
}

void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].tool);
    free(names->items);
    *names = (struct names){0};
}

/* ---- adding ---- */

static struct bridged *make(struct session *session, const struct server_config *config,
                            const mortise_host *host, const struct tool_facts *facts)
{
    struct bridged *tool = calloc(1, sizeof(*tool));
    if (!tool)
        return NULL;
    *tool = (struct bridged){.session = session,
                             .config = config,
                             .host = host,
                             .name = strdup(facts->name),
                             .schema = strdup(facts->schema),
                             .has_output_schema = facts->output_schema != NULL,
                             .may_repeat = facts->may_repeat};
    if (tool->name && tool->schema)
        return tool;
    release(tool);
    return NULL;
}

static void add(mortise_tool_list *list, const char *name, const struct tool_facts *facts,
                struct bridged *tool)
{
    mortise_add_tool(list, &(mortise_new_tool){.name = name,
                                               .description = facts->description,
                                               .flags = facts->flags,
                                               .input_schema = facts->schema,
                                               .output_schema = facts->output_schema,
                                               .title = facts->title,
                                               .is_optional = true,
                                               .run = run,
                                               .data = tool,
                                               .release = release});
}

void tools_add(mortise_tool_list *list, struct names *names, struct session *session,
               const struct server_config *config, const mortise_host *host)
{
    struct listing *listing = session_listing(session, host);
    const char *item = NULL;
    while (listing && mortise_json_next(listing->tools, &item) == MORTISE_OK) {
        struct tool_facts facts;
        struct bridged *tool = NULL;
        const char *name = NULL;
        char problem[512] = "";
        bool is_good = tool_read(&facts, item, config, problem, sizeof(problem));
        if (is_good && !(name = take_name(names, config, facts.name))) {
            snprintf(problem, sizeof(problem), "it is there twice");
            is_good = false;
        }
        if (is_good && !(tool = make(session, config, host, &facts)))
            snprintf(problem, sizeof(problem), "out of memory");
        if (tool)
            add(list, name, &facts, tool);
        else if (problem[0])
            mortise_log(host, facts.is_no_mistake ? MORTISE_LOG_NOTE : MORTISE_LOG_WARNING,
                        "MCP server '%s': its tool '%.100s' is left out: %s", config->name,
                        facts.name ? facts.name : "", problem);
        tool_facts_release(&facts);
    }
    listing_unref(listing);
}
