/*
 * The official test suite of JSON Schema (R12): suite.c FOLDER.
 *
 * What a test expects to be fetched is put into its schema's "$defs" beforehand, with its "$id":
 * that is how a schema brings along what it refers to.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "schema/schema.h"

#define REMOTE_BASE "http://localhost:1234/"

/* NULL in `test`: all of the group. */
static const struct expected {
    const char *file, *group, *test, *reason;
} expected[] = {
    {"vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary",
     "no validation: invalid number, but it still validates",
     "the keywords of the standard hold, whatever \"$schema\" says"},
    {"optional/cross-draft.json", "refs to historic drafts are processed as historic drafts", NULL,
     "a schema is one document, and of one draft"},
    {"optional/format-assertion.json",
     "schema that uses custom metaschema with format-assertion: false",
     "format-assertion: false: invalid string", "\"format\" is an annotation"},
    {"optional/format-assertion.json",
     "schema that uses custom metaschema with format-assertion: true",
     "format-assertion: true: invalid string", "\"format\" is an annotation"},
};

#define EXPECTED_COUNT (sizeof(expected) / sizeof(expected[0]))

static const char *folder;
static json_t *remotes; /* a list of documents, each with an "$id" */
static unsigned failed, passed, excused;
static bool used[EXPECTED_COUNT];

/* ---- reading ---- */

static json_t *load(const char *path)
{
    json_error_t error;
    size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY;
    json_t *json = json_load_file(path, flags, &error);
    if (!json && json_error_code(&error) == json_error_numeric_overflow)
        json = json_load_file(path, flags | JSON_DECODE_INT_AS_REAL, &error);
    if (!json) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(2);
    }
    return json;
}

/* A document as it is found under the URI, and as it calls itself. */
static void add_remote(json_t *document, const char *uri)
{
    const char *id = json_string_value(json_object_get(document, "$id"));
    if (!id)
        json_object_set_new(document, "$id", json_string(uri));
    else if (strcmp(id, uri) != 0)
        json_array_append_new(remotes, json_pack("{s:s, s:s}", "$id", uri, "$ref", id));
    json_array_append_new(remotes, document);
}

static int no_dots(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* All files below `path`, in order. */
static void walk(const char *path, void (*found)(const char *file, const char *name))
{
    struct dirent **entries;
    int count = scandir(path, &entries, no_dots, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        const char *name = entries[i]->d_name;
        snprintf(inner, sizeof(inner), "%s/%s", path, name);
        if (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, ".json"))
            found(inner, name);
        else if (strcmp(name, "format") != 0 && !strchr(name, '.'))
            walk(inner, found);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void found_remote(const char *file, const char *name)
{
    char uri[4096];
    (void)name;
    snprintf(uri, sizeof(uri), REMOTE_BASE "%s", file + strlen(folder) + strlen("/remotes/"));
    add_remote(load(file), uri);
}

static void found_metaschema(const char *file, const char *name)
{
    json_t *document = load(file);
    (void)name;
    add_remote(document, json_string_value(json_object_get(document, "$id")));
}

/* ---- running ---- */

/* Whether it refers to something that is not in it. */
static bool refers_outside(const json_t *schema)
{
    char *text = json_dumps(schema, JSON_ENCODE_ANY | JSON_COMPACT);
    bool refers = text && (strstr(text, "localhost:1234") ||
                           strstr(text, "\"$ref\":\"https://json-schema.org/draft/2020-12/"));
    free(text);
    return refers;
}

static json_t *bundle(const json_t *schema)
{
    json_t *whole = json_deep_copy(schema);
    if (!json_is_object(whole) || !refers_outside(schema))
        return whole;
    json_t *defs = json_object_get(whole, "$defs");
    if (!defs) {
        defs = json_object();
        json_object_set_new(whole, "$defs", defs);
    }
    size_t i;
    json_t *remote;
    json_array_foreach (remotes, i, remote) {
        char name[32];
        snprintf(name, sizeof(name), "remote %zu", i);
        json_object_set_new(defs, name, json_deep_copy(remote));
    }
    return whole;
}

static bool is_expected(const char *file, const char *group, const char *test)
{
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        if (strcmp(expected[i].file, file) != 0 || strcmp(expected[i].group, group) != 0 ||
            (expected[i].test && strcmp(expected[i].test, test) != 0))
            continue;
        used[i] = true;
        return true;
    }
    return false;
}

static void judge(const char *file, const char *group, const char *test, bool good,
                  const char *message)
{
    bool listed = is_expected(file, group, test);
    passed += good;
    excused += !good && listed;
    if (good != listed)
        return;
    failed++;
    fprintf(stderr, "%s: %s: %s: %s%s\n", file, group, test,
            good ? "passes, but is listed as a failure" : "fails: ", good ? "" : message);
}

static void run_group(const char *file, const json_t *group)
{
    struct error error = ERROR_INIT;
    const char *title = json_string_value(json_object_get(group, "description"));
    json_t *document = bundle(json_object_get(group, "schema"));
    struct schema *schema = schema_compile(document, &error);
    json_decref(document);
    size_t i;
    json_t *test;
    json_array_foreach (json_object_get(group, "tests"), i, test) {
        const char *name = json_string_value(json_object_get(test, "description"));
        bool valid = json_is_true(json_object_get(test, "valid"));
        bool fits = schema &&
                    schema_check(schema, json_object_get(test, "data"), PROBLEM_ARGUMENTS, &error);
        bool told = fits || error.message[0];
        judge(file, title, name, schema && fits == valid && told, error.message);
    }
    schema_free(schema);
}

static void found_test(const char *file, const char *name)
{
    json_t *groups = load(file);
    const char *tests = strstr(file, "/draft2020-12/");
    size_t i;
    json_t *group;
    (void)name;
    json_array_foreach (groups, i, group)
        run_group(tests + strlen("/draft2020-12/"), group);
    json_decref(groups);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2)
        return 2;
    folder = argv[1];
    remotes = json_array();
    snprintf(path, sizeof(path), "%s/metaschema", folder);
    walk(path, found_metaschema);
    snprintf(path, sizeof(path), "%s/remotes", folder);
    walk(path, found_remote);
    snprintf(path, sizeof(path), "%s/tests", folder);
    walk(path, found_test);
    for (size_t i = 0; i < EXPECTED_COUNT; i++) {
        if (used[i])
            printf("expected to fail: %s: %s: %s\n", expected[i].file, expected[i].group,
                   expected[i].reason);
        else
            fprintf(stderr, "%s: %s: listed, but there is no such test\n", expected[i].file,
                    expected[i].group);
        failed += !used[i];
    }
    json_decref(remotes);
    printf("%u cases pass, %u fail as expected, %u failures\n", passed, excused, failed);
    return failed != 0 || passed < 1000;
}
