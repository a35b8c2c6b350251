#include "plugin/raw_schema.h"

#include <string.h>

#include "base/json.h"

static struct schema *compile(json_t *document, struct text *out, struct error *error)
{
    const char *type = json_member_string(document, "type");
    if (!json_is_object(document)) {
        error_set(error, ERROR_PLUGIN, "it must be a JSON object");
        return NULL;
    }
    if (!type || strcmp(type, "object") != 0) {
        error_set(error, ERROR_PLUGIN, "it must say \"type\": \"object\"");
        return NULL;
    }
    struct schema *schema = schema_compile(document, error);
    if (schema)
        text_json(out, document);
    if (!schema || !out->failed)
        return schema;
    error_memory(error);
    schema_free(schema);
    return NULL;
}

struct schema *raw_schema_read(const char *json, struct text *out, struct error *error)
{
    struct error problem = ERROR_INIT;
    json_t *document = json_parse(json, strlen(json), NULL, &problem);
    if (!document && problem.kind == ERROR_INTERNAL)
        error_memory(error);
    else if (!document)
        error_set(error, ERROR_PLUGIN, "%s", problem.message);
    struct schema *schema = document ? compile(document, out, error) : NULL;
    json_decref(document);
    return schema;
}
