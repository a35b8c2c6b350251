/* What a plugin reads as JSON: any text, and all that jansson takes is taken too. */
#include <mortise/json.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value, as every kind, with what is in it. */
static void read_value(const char *json, int depth)
{
    const char *item = NULL;
    char name[16], **list;
    int64_t integer;
    double number;
    bool boolean;
    mortise_json_string(json, NULL, name, sizeof(name));
    mortise_json_integer(json, NULL, &integer);
    mortise_json_number(json, NULL, &number);
    mortise_json_boolean(json, NULL, &boolean);
    if (mortise_json_strings(json, NULL, &list) == MORTISE_OK)
        free(list);
    while (depth < 4 && mortise_json_next(json, &item) == MORTISE_OK)
        read_value(item, depth + 1);
    item = NULL;
    while (depth < 4 && mortise_json_next_member(json, &item, name, sizeof(name)) == MORTISE_OK)
        read_value(item, depth + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (value && mortise_json_length(text) == 0)
        abort();
    json_decref(value);
    read_value(text, 0);
    free(text);
    return 0;
}
