/* strdup() and strndup() whose memory comes from this program's malloc(): see base/failing.c. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t most);

char *__wrap_strndup(const char *string, size_t most)
{
    size_t length = strnlen(string, most);
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, string, length);
        copy[length] = '\0';
    }
    return copy;
}

char *__wrap_strdup(const char *string)
{
    return __wrap_strndup(string, strlen(string));
}
