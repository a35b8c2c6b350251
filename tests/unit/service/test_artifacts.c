#include "inside.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/owner.h"

#define TYPE "text/plain"

/* What one call does with one artifact, and what it gets. */
struct file {
    mortise_owner owner;
    const char *name, *type, *bytes;
    size_t length; /* 0: that of `bytes` */
    uint32_t version;
    char loaded[256];
    char loaded_type[64];
    size_t loaded_length;
};

static mortise_status save(mortise_call *call, void *data)
{
    struct file *file = data;
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    assert_non_null(artifacts);
    return artifacts->save(call, file->owner, file->name, file->type, file->bytes,
                           file->length ? file->length : strlen(file->bytes), &file->version);
}

static mortise_status load(mortise_call *call, void *data)
{
    struct file *file = data;
    const mortise_artifact *artifact = (const void *)file;
    mortise_status status =
        mortise_artifacts_of(call)->load(call, file->owner, file->name, file->version, &artifact);
    if (status != MORTISE_OK) {
        assert_null(artifact);
        return status;
    }
    assert_string_equal(artifact->name, file->name);
    assert_true(artifact->saved_ms > 1500000000000);
    file->version = artifact->version;
    file->loaded_length = artifact->length;
    snprintf(file->loaded, sizeof(file->loaded), "%s", (const char *)artifact->data);
    snprintf(file->loaded_type, sizeof(file->loaded_type), "%s", artifact->mime_type);
    return status;
}

/* "NAME VERSION TYPE LENGTH" of each */
static mortise_status list(mortise_call *call, void *data)
{
    struct file *file = data;
    const mortise_artifact *const *artifacts;
    size_t count, length = 0;
    mortise_status status = mortise_artifacts_of(call)->list(call, file->owner, &artifacts, &count);
    file->loaded[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        assert_null(artifacts[i]->data);
        length +=
            (size_t)snprintf(file->loaded + length, sizeof(file->loaded) - length, "%s%s %u %s %zu",
                             i ? ", " : "", artifacts[i]->name, artifacts[i]->version,
                             artifacts[i]->mime_type, artifacts[i]->length);
    }
    return status;
}

static void check_saved(struct inside *inside, mortise_owner owner, const char *name,
                        const char *bytes, uint32_t version)
{
    struct file file = {.owner = owner, .name = name, .type = TYPE, .bytes = bytes};
    assert_inside(inside, MORTISE_OK, save, &file);
    assert_int_equal(file.version, version);
}

static void check_loaded(struct inside *inside, mortise_owner owner, const char *name,
                         uint32_t version, const char *bytes)
{
    struct file file = {.owner = owner, .name = name, .version = version};
    assert_inside(inside, bytes ? MORTISE_OK : MORTISE_NOT_FOUND, load, &file);
    if (bytes)
        assert_string_equal(file.loaded, bytes);
}

static void check_list(struct inside *inside, mortise_owner owner, const char *wanted)
{
    struct file file = {.owner = owner};
    assert_inside(inside, MORTISE_OK, list, &file);
    assert_string_equal(file.loaded, wanted);
}

static void versions_are_kept(void **state) /* F29 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    check_list(&inside, MORTISE_OF_SESSION, "");
    check_loaded(&inside, MORTISE_OF_SESSION, "a.txt", 0, NULL);
    check_saved(&inside, MORTISE_OF_SESSION, "b.txt", "first", 1);
    check_saved(&inside, MORTISE_OF_SESSION, "b.txt", "second", 2);
    check_saved(&inside, MORTISE_OF_SESSION, "a.txt", "x", 1);
    check_loaded(&inside, MORTISE_OF_SESSION, "b.txt", 0, "second");
    check_loaded(&inside, MORTISE_OF_SESSION, "b.txt", 1, "first");
    check_loaded(&inside, MORTISE_OF_SESSION, "b.txt", 3, NULL);
    check_list(&inside, MORTISE_OF_SESSION, "a.txt 1 " TYPE " 1, b.txt 2 " TYPE " 6");
    inside_reopen(&inside);
    inside.plugin = "beta"; /* shared by all plugins */
    for (uint32_t version = 3; version <= 12; version++)
        check_saved(&inside, MORTISE_OF_SESSION, "b.txt", "more", version);
    check_list(&inside, MORTISE_OF_SESSION, "a.txt 1 " TYPE " 1, b.txt 12 " TYPE " 4");
    inside_close(&inside);
}

static void copy_of_an_editor(const struct inside *inside, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/session/trip/a.txt/%s", inside->artifacts, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* What somebody else put there is no version, and hides none. */
static void stray_files_are_no_versions(void **state)
{
    static const char *const strays[] = {"2.text=plain~", "7.", "8.a%0Ab", "9.%E9", "x.text=plain"};
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    check_saved(&inside, MORTISE_OF_SESSION, "a.txt", "x", 1);
    for (size_t i = 0; i < sizeof(strays) / sizeof(*strays); i++)
        copy_of_an_editor(&inside, strays[i]);
    check_loaded(&inside, MORTISE_OF_SESSION, "a.txt", 0, "x");
    check_loaded(&inside, MORTISE_OF_SESSION, "a.txt", 7, NULL);
    check_list(&inside, MORTISE_OF_SESSION, "a.txt 1 " TYPE " 1");
    check_saved(&inside, MORTISE_OF_SESSION, "a.txt", "y", 2);
    inside_close(&inside);
}

static void everybody_has_his_own(void **state) /* F29, F31 */
{
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "one";
    check_saved(&inside, MORTISE_OF_SESSION, "x", "session", 1);
    check_saved(&inside, MORTISE_OF_USER, "x", "user", 1);
    check_saved(&inside, MORTISE_OF_APP, "x", "app", 1);
    inside.context.session = "two";
    check_loaded(&inside, MORTISE_OF_SESSION, "x", 0, NULL);
    check_loaded(&inside, MORTISE_OF_USER, "x", 0, "user");
    inside.context.user = "bob";
    check_loaded(&inside, MORTISE_OF_USER, "x", 0, NULL);
    check_loaded(&inside, MORTISE_OF_APP, "x", 0, "app");
    inside.context.user = "ada";
    inside.context.tenant = "acme";
    check_loaded(&inside, MORTISE_OF_USER, "x", 0, NULL);
    inside.context.session = "one";
    check_loaded(&inside, MORTISE_OF_SESSION, "x", 0, "session");
    inside.context.session = NULL; /* a run of its own each time */
    check_saved(&inside, MORTISE_OF_SESSION, "y", "run", 1);
    check_loaded(&inside, MORTISE_OF_SESSION, "y", 0, NULL);
    struct file nobody = {.owner = 3};
    assert_inside(&inside, MORTISE_INVALID, list, &nobody);
    inside_close(&inside);
}

static void bytes_and_types_come_back(void **state)
{
    struct inside inside;
    struct file file = {.name = "画像 1.png"};
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    file.type = "text/x-y+z; charset=\"utf-8\"; a=%41/";
    file.bytes = "a\0b";
    file.length = 3;
    assert_inside(&inside, MORTISE_OK, save, &file);
    assert_inside(&inside, MORTISE_OK, load, &file);
    assert_string_equal(file.loaded_type, file.type);
    assert_int_equal(file.loaded_length, 3);
    file.type = NULL;
    file.version = 0;
    assert_inside(&inside, MORTISE_OK, save, &file);
    assert_inside(&inside, MORTISE_OK, load, &file);
    assert_string_equal(file.loaded_type, "application/octet-stream");
    inside_close(&inside);
}

static void what_cannot_be_kept_is_told(void **state)
{
    static const char *const names[] = {"",
                                        ".",
                                        "..",
                                        ".hidden",
                                        "a/b",
                                        "../x",
                                        "a\nb",
                                        "a\x7f",
                                        "\xC3",
                                        "a\xC2\x85"
                                        "b",
                                        NULL};
    static const char *const types[] = {"",       "png",         "/png",
                                        "image/", "image/p\nng", "image/\xC3\xA9"};
    char long_name[202];
    struct inside inside;
    (void)state;
    inside_open(&inside, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct file file = {.name = names[i], .type = TYPE, .bytes = "x"};
        assert_inside(&inside, MORTISE_INVALID, save, &file);
        assert_non_null(strstr(inside.said, "artifacts.invalid_input: a name is 1 to 200 bytes"));
        assert_inside(&inside, MORTISE_INVALID, load, &file);
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct file file = {.name = "x", .type = types[i], .bytes = "x"};
        assert_inside(&inside, MORTISE_INVALID, save, &file);
        assert_non_null(strstr(inside.said, "a media type is like \"image/png\""));
    }
    memset(long_name, 'n', 201);
    long_name[201] = '\0';
    struct file file = {.name = long_name, .type = TYPE, .bytes = "x"};
    assert_inside(&inside, MORTISE_INVALID, save, &file);
    long_name[200] = '\0';
    assert_inside(&inside, MORTISE_OK, save, &file);
    inside_close(&inside);
}

static void ten_mebibytes_are_the_most(void **state) /* F74 */
{
    struct inside inside;
    struct file file = {.name = "big", .type = TYPE, .length = MORTISE_ARTIFACT_MAX};
    char *bytes = calloc(1, MORTISE_ARTIFACT_MAX + 1);
    (void)state;
    file.bytes = bytes;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    assert_inside(&inside, MORTISE_OK, save, &file);
    file.length++;
    assert_inside(&inside, MORTISE_INVALID, save, &file);
    assert_string_equal(inside.said, "artifacts.invalid_input: 10485761 bytes are more than an "
                                     "artifact can have, which is 10485760");
    check_list(&inside, MORTISE_OF_SESSION, "big 1 " TYPE " 10485760");
    inside_close(&inside);
    free(bytes);
}

static void files_are_private(void **state)
{
    struct inside inside;
    char path[160];
    struct stat status;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "a/../b";
    check_saved(&inside, MORTISE_OF_SESSION, "x.txt", "x", 1);
    snprintf(path, sizeof(path), "%s/session/a%%2F..%%2Fb/x.txt/1.text=plain", inside.artifacts);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    inside_close(&inside);
}

static void a_failure_leaves_nothing(void **state)
{
    struct inside inside;
    char path[160];
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    snprintf(path, sizeof(path), "%s/state", inside.folder);
    FILE *in_the_way = fopen(path, "w"); /* a file where the folder has to be */
    fclose(in_the_way);
    struct file file = {.name = "x", .type = TYPE, .bytes = "x"};
    assert_inside(&inside, MORTISE_FAILED, save, &file);
    assert_non_null(strstr(inside.said, "artifacts.internal: cannot keep 'x': Not a directory"));
    assert_inside(&inside, MORTISE_FAILED, load, &file);
    unlink(path);
    inside_close(&inside);
}

static void *save_fifty(void *data)
{
    struct inside inside = *(struct inside *)data;
    for (int i = 0; i < 50; i++) {
        struct file file = {.name = "x", .type = i % 2 ? TYPE : "image/png", .bytes = "x"};
        if (inside_call(&inside, save, &file) != MORTISE_OK)
            return data;
    }
    return NULL;
}

static void savers_at_once_get_numbers_of_their_own(void **state) /* F31 */
{
    struct inside inside;
    pthread_t threads[4];
    void *failed;
    (void)state;
    inside_open(&inside, NULL);
    inside.context.session = "trip";
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, save_fifty, &inside);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (uint32_t version = 1; version <= 200; version++)
        check_loaded(&inside, MORTISE_OF_SESSION, "x", version, "x");
    check_loaded(&inside, MORTISE_OF_SESSION, "x", 201, NULL);
    inside_close(&inside);
}

static void a_session_takes_its_files_along(void **state)
{
    struct inside inside;
    bool any;
    struct error error = ERROR_INIT;
    (void)state;
    inside_open(&inside, NULL);
    struct services_settings places = {.artifacts = inside.artifacts, .database = inside.database};
    assert_true(services_forget_session(&places, "trip", &any, &error));
    assert_false(any);
    inside.context.session = "trip";
    check_saved(&inside, MORTISE_OF_SESSION, "x", "x", 1);
    check_saved(&inside, MORTISE_OF_USER, "x", "user", 1);
    inside.context.session = "other";
    check_saved(&inside, MORTISE_OF_SESSION, "x", "other", 1);
    if (!services_forget_session(&places, "trip", &any, &error))
        fail_msg("%s", error.message);
    assert_true(any);
    check_loaded(&inside, MORTISE_OF_SESSION, "x", 0, "other");
    check_loaded(&inside, MORTISE_OF_USER, "x", 0, "user");
    inside.context.session = "trip";
    check_loaded(&inside, MORTISE_OF_SESSION, "x", 0, NULL);
    inside_close(&inside);
}

/* Nobody finds them again, so they do not stay for ever. */
static void old_runs_are_cleared_away(void **state)
{
    struct inside inside;
    char path[160], command[800];
    struct stat status;
    (void)state;
    inside_open(&inside, NULL);
    snprintf(command, sizeof(command),
             "mkdir -p '%s/run/old/x' '%s/run/young/x' && "
             "touch '%s/run/old/x/1.a=b' && touch -d '8 days ago' '%s/run/old' && "
             "touch -d '6 days ago' '%s/run/young'",
             inside.artifacts, inside.artifacts, inside.artifacts, inside.artifacts,
             inside.artifacts);
    assert_int_equal(system(command), 0);
    check_saved(&inside, MORTISE_OF_SESSION, "x", "x", 1);
    snprintf(path, sizeof(path), "%s/run/old", inside.artifacts);
    assert_int_not_equal(stat(path, &status), 0);
    snprintf(path, sizeof(path), "%s/run/young", inside.artifacts);
    assert_int_equal(stat(path, &status), 0);
    inside_close(&inside);
}

static void names_of_owners_do_not_meet(void **state)
{
    struct text a = TEXT_INIT, b = TEXT_INIT;
    struct error error = ERROR_INIT;
    char long_id[300];
    (void)state;
    assert_true(owner_of_user(&a, "x+", "y", &error) && owner_of_user(&b, "x", "+y", &error));
    assert_string_equal(a.data, "user/x%2B+y");
    assert_string_equal(b.data, "user/x+%2By");
    text_reset(&a);
    assert_true(owner_of_session(&a, "..", &error));
    assert_string_equal(a.data, "session/%2E.");
    memset(long_id, 'i', 299);
    long_id[299] = '\0';
    assert_false(owner_of_session(&b, long_id, &error));
    text_release(&a);
    text_release(&b);
}

static void names_are_made_of_any_text(void **state) /* D12 */
{
    static const char *const cases[][2] = {
        {"call_1.a-b", "call_1.a-b"}, {"../x", "_._x"}, {"", "_"}, {"a:\xC3\xA4", "a___"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct text name = TEXT_INIT;
        artifact_make_name(&name, cases[i][0]);
        assert_string_equal(name.data, cases[i][1]);
        assert_null(artifact_name_problem(name.data));
        text_release(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_kept),
        cmocka_unit_test(stray_files_are_no_versions),
        cmocka_unit_test(everybody_has_his_own),
        cmocka_unit_test(bytes_and_types_come_back),
        cmocka_unit_test(what_cannot_be_kept_is_told),
        cmocka_unit_test(ten_mebibytes_are_the_most),
        cmocka_unit_test(files_are_private),
        cmocka_unit_test(a_failure_leaves_nothing),
        cmocka_unit_test(savers_at_once_get_numbers_of_their_own),
        cmocka_unit_test(a_session_takes_its_files_along),
        cmocka_unit_test(old_runs_are_cleared_away),
        cmocka_unit_test(names_of_owners_do_not_meet),
        cmocka_unit_test(names_are_made_of_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
