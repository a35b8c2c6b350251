/* What a server says of a tool.  It is the word of a stranger: it is checked, and its hints make a
 * tool look harmless to nobody who decides what it may do. */
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>

#include "buffer.h"
#include "head.h"
#include "schema_repair.h"

enum { SCHEMA_MAX = 1 << 20, DESCRIPTION_MAX = 32 << 10, NAME_MAX_BYTES = 1024 };

static bool bad(char *problem, size_t size, const char *reason)
{
    snprintf(problem, size, "%s", reason);
    return false;
}

static bool is_listed(const char *name, char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* ---- schemas ---- */

/* Behind the opening brace. */
static void put_type(struct buffer *schema)
{
    struct buffer text = BUFFER_INIT;
    bool is_empty = schema->text[1 + strspn(schema->text + 1, " \t\r\n")] == '}';
    buffer_printf(&text, "{\"type\":\"object\"%s", is_empty ? "" : ",");
    buffer_put(&text, schema->text + 1, schema->length - 1);
    buffer_release(schema);
    *schema = text;
}

/* To the byte as it came, unless it has to be repaired; and a missing "type" at the root is
 * written: every host wants it, and nothing else can be meant. */
static bool read_schema(const char *json, char **out, char *problem, size_t size)
{
    const char *schema = NULL, *type;
    struct buffer text = BUFFER_INIT;
    mortise_status status = mortise_json_object(json, "inputSchema", &schema);
    if (status == MORTISE_INVALID)
        return bad(problem, size, "its input schema is no object");
    size_t length = schema ? mortise_json_length(schema) : 0;
    if (length > SCHEMA_MAX)
        return bad(problem, size, "its input schema is larger than 1 MiB");
    if (!schema) {
        buffer_puts(&text, "{\"type\":\"object\"}");
    } else {
        schema_repair(schema, &text);
    }
    if (!text.failed && mortise_json_value(text.text, "type", &type) != MORTISE_OK)
        put_type(&text);
    *out = buffer_take(&text);
    return *out || bad(problem, size, "out of memory");
}

/* One of another root than an object is for clients that take any JSON. */
static bool read_output_schema(const char *json, char **out, char *problem, size_t size)
{
    const char *schema;
    char type[16] = "";
    if (mortise_json_object(json, "outputSchema", &schema) != MORTISE_OK)
        return true;
    size_t length = mortise_json_length(schema);
    mortise_json_string(schema, "type", type, sizeof(type));
    if (strcmp(type, "object") != 0 || length > SCHEMA_MAX)
        return true;
    struct buffer text = BUFFER_INIT;
    schema_repair(schema, &text);
    *out = buffer_take(&text);
    return *out || bad(problem, size, "out of memory");
}

/* ---- hints ---- */

/* What is not said is what is worse. */
static void read_hints(struct tool_facts *facts, const char *json)
{
    const char *hints = "{}";
    bool reads = false, destroys = true, repeats = false, reaches_out = true;
    mortise_json_object(json, "annotations", &hints);
    mortise_json_boolean(hints, "readOnlyHint", &reads);
    mortise_json_boolean(hints, "destructiveHint", &destroys);
    mortise_json_boolean(hints, "idempotentHint", &repeats);
    mortise_json_boolean(hints, "openWorldHint", &reaches_out);
    if (reads)
        facts->flags |= MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE;
    if (destroys && !reads)
        facts->flags |= MORTISE_DESTRUCTIVE;
    if (repeats)
        facts->flags |= MORTISE_IDEMPOTENT;
    if (reaches_out)
        facts->flags |= MORTISE_OPEN_WORLD;
    facts->may_repeat = reads || repeats;
    if (!facts->title)
        mortise_json_copy(hints, "title", &facts->title);
}

static bool needs_task(const char *json)
{
    const char *execution;
    char support[16] = "";
    if (mortise_json_object(json, "execution", &execution) == MORTISE_OK)
        mortise_json_string(execution, "taskSupport", support, sizeof(support));
    return strcmp(support, "required") == 0;
}

/* ---- the whole ---- */

static bool read_names(struct tool_facts *facts, const char *json,
                       const struct server_config *config, char *problem, size_t size)
{
    if (mortise_json_copy(json, "name", &facts->name) != MORTISE_OK || !facts->name[0])
        return bad(problem, size, "it has no name");
    if (strlen(facts->name) > NAME_MAX_BYTES)
        return bad(problem, size, "its name is too long");
    if ((config->allowed && !is_listed(facts->name, config->allowed)) ||
        is_listed(facts->name, config->excluded))
        return bad(problem, size, "");
    facts->is_no_mistake = true;
    if (needs_task(json))
        return bad(problem, size, "it runs as a task only, and tasks are not known here");
    /* A mortise that has its own tools from a server, over others perhaps, would have more of them
     * each time. */
    if (name_rounds(config->name, facts->name) > 1)
        return bad(problem, size, "by its name it has come through this server twice");
    facts->is_no_mistake = false;
    mortise_json_copy(json, "title", &facts->title);
    mortise_json_copy(json, "description", &facts->description);
    if (facts->description && strlen(facts->description) > DESCRIPTION_MAX)
        facts->description[mortise_cut(facts->description, DESCRIPTION_MAX)] = '\0';
    return true;
}

bool tool_read(struct tool_facts *facts, const char *json, const struct server_config *config,
               char *problem, size_t size)
{
    *facts = (struct tool_facts){0};
    bool is_good = read_names(facts, json, config, problem, size) &&
                   read_schema(json, &facts->schema, problem, size) &&
                   read_output_schema(json, &facts->output_schema, problem, size) &&
                   (!config->is_http || head_check_schema(facts->schema, problem, size));
    if (is_good)
        read_hints(facts, json);
    return is_good;
}

void tool_facts_release(struct tool_facts *facts)
{
    free(facts->name);
    free(facts->title);
    free(facts->description);
    free(facts->schema);
    free(facts->output_schema);
    *facts = (struct tool_facts){0};
}
