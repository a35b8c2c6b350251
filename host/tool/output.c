#include "tool/output.h"

#include "base/json.h"

bool output_fits(const struct tool *tool, const char *json, size_t length, struct error *error)
{
    if (!tool->output)
        return true;
    json_t *value = json_parse_wide(json, length, error);
    bool fits = value && schema_check(tool->output, value, PROBLEM_RESULT, error);
    json_decref(value);
    return fits;
}
