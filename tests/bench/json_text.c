/*
 * json_text - what it costs to read JSON, by the host's reader and by jansson's in turn.
 *
 *     json_text string|records TIMES
 *     {"ours_ns": [N, …], "jansson_ns": [N, …]}
 *
 * "string" is an object with one text of 64 KiB, some of it escaped; "records" is a list with many
 * small values of every kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

enum { TEXT_BYTES = 65536, RECORDS = 400, MOST_TIMES = 10000 };

static void write_string(struct text *out)
{
    text_puts(out, "{\"text\":\"");
    for (size_t i = 0; out->length < TEXT_BYTES; i++)
        text_printf(out, "line %zu of a text that a tool has read from some file\\n", i);
    text_puts(out, "\"}");
}

static void write_records(struct text *out)
{
    text_putc(out, '[');
    for (int i = 0; i < RECORDS; i++)
        text_printf(out, "%s{\"id\": %d, \"name\": \"item %d\", \"size\": %d.25, \"tags\": [\"a\", "
                         "\"b\"], \"open\": true, \"parent\": null}",
                    i ? ",\n" : "", i * 1000, i, i);
    text_putc(out, ']');
}

static double read_ns(const struct text *text, bool by_jansson)
{
    json_error_t problem;
    bool no_memory;
    int64_t started_ns = clock_ns();
    json_t *value = by_jansson ? json_loadb(text->data, text->length, 0, &problem)
                               : json_read(text->data, text->length, 0, &problem, &no_memory);
    int64_t took_ns = clock_ns() - started_ns;
    if (!value) {
        fprintf(stderr, "json_text: %s\n", problem.text);
        exit(1);
    }
    json_decref(value);
    return (double)took_ns;
}

static void print_list(const char *name, const double *times, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%.0f", i ? ", " : "", times[i]);
    printf("]");
}

int main(int argc, char **argv)
{
    static double ours[MOST_TIMES], theirs[MOST_TIMES];
    struct text text = TEXT_INIT;
    size_t count = argc == 3 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    if (count < 1 || count > MOST_TIMES) {
        fputs("usage: json_text string|records TIMES\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "string") == 0)
        write_string(&text);
    else
        write_records(&text);
    read_ns(&text, false); /* warms caches and allocator */
    for (size_t i = 0; i < count; i++) {
        ours[i] = read_ns(&text, false);
        theirs[i] = read_ns(&text, true);
    }
    printf("{");
    print_list("ours_ns", ours, count);
    printf(", ");
    print_list("jansson_ns", theirs, count);
    puts("}");
    text_release(&text);
    return 0;
}
