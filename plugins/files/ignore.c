#include "ignore.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "place.h"
#include "wildcard.h"

enum { FILE_BYTES = 1024 * 1024, RULES_MOST = 10000 };

struct ignore_rule {
    char *pattern;
    bool is_negative, folders_only;
};

/* One line; false: no memory. */
static bool add(struct ignore *ignore, char *line)
{
    size_t length = strlen(line);
    struct ignore_rule rule = {.is_negative = line[0] == '!'};
    line += rule.is_negative;
    length = strlen(line);
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\r') &&
           (length < 2 || line[length - 2] != '\\'))
        line[--length] = '\0';
    rule.folders_only = length && line[length - 1] == '/';
    if (rule.folders_only)
        line[--length] = '\0';
    if (!length || (line[0] == '#' && !rule.is_negative))
        return true;
    const char *in_front = strchr(line, '/') ? "" : "**/";
    line += line[0] == '/';
    rule.pattern = malloc(strlen(in_front) + length + 1);
    struct ignore_rule *rules = realloc(ignore->rules, (ignore->count + 1) * sizeof(*rules));
    if (rules)
        ignore->rules = rules;
    if (!rules || !rule.pattern) {
        free(rule.pattern);
        return false;
    }
    strcpy(rule.pattern, in_front);
    strcat(rule.pattern, line);
    rules[ignore->count++] = rule;
    return true;
}

void ignore_read(struct ignore *ignore, int folder, const char *name)
{
    struct stat status, own;
    size_t length;
    /* .git/info/exclude: links on the way may lead anywhere below the folder */
    int fd = fstat(folder, &own) != 0 ? -1
             : strchr(name, '/')      ? beneath_open_regular(folder, name, &status)
                                      : beneath_open_entry(folder, name, own.st_uid, &status);
    char *data = fd >= 0 ? place_load(fd, &status, FILE_BYTES, &length) : NULL;
    if (fd >= 0)
        close(fd);
    char *at = data;
    while (at && *at && ignore->count < RULES_MOST) {
        char *end = at + strcspn(at, "\n");
        bool is_last = !*end;
        *end = '\0';
        if (!add(ignore, at))
            break;
        at = is_last ? NULL : end + 1;
    }
    free(data);
}

void ignore_release(struct ignore *ignore)
{
    for (size_t i = 0; i < ignore->count; i++)
        free(ignore->rules[i].pattern);
    free(ignore->rules);
    ignore->rules = NULL;
    ignore->count = 0;
}

bool ignore_has(const struct ignore *ignore, const char *path, bool is_folder)
{
    for (; ignore; ignore = ignore->above)
        for (size_t i = ignore->count; i-- > 0;) {
            const struct ignore_rule *rule = &ignore->rules[i];
            if ((is_folder || !rule->folders_only) &&
                wildcard_match(rule->pattern, path + ignore->below))
                return !rule->is_negative;
        }
    return false;
}
