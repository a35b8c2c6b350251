#include "base/json_check.h"

#include "base/json_read.h"

bool json_is_valid(const char *data, size_t length)
{
    bool no_memory;
    return data && json_read_text(data, length, JSON_DECODE_ANY, NULL, NULL, &no_memory);
}
