#include "plugin/schema.h"

#include <string.h>

#include "base/json.h"

bool schema_check_raw(const char *json, struct text *out, struct error *error)
{
    struct error problem = ERROR_INIT;
    json_t *schema = json_parse(json, strlen(json), NULL, &problem);
    bool good = false;
    if (!schema && problem.kind == ERROR_INTERNAL)
        error_memory(error);
    else if (!schema)
        error_set(error, ERROR_PLUGIN, "%s", problem.message);
    else if (!json_is_object(schema))
        error_set(error, ERROR_PLUGIN, "it must be a JSON object");
    else
        good = true;

    const char *type = good ? json_member_string(schema, "type") : NULL;
    if (good && (!type || strcmp(type, "object") != 0))
        good = error_set(error, ERROR_PLUGIN, "it must say \"type\": \"object\"");
    if (good) {
        text_json(out, schema);
        good = !out->failed || error_memory(error);
    }
    json_decref(schema);
    return good;
}
