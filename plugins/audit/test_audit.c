#include <mortise/test.h>

#include "audit.c"

#include <sys/stat.h>

static void make_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_audit.XXXXXX");
    int fd = mkstemp(path);
    mortise_test_true(fd >= 0);
    close(fd);
    unlink(path);
}

static void submit(mortise_test *test, const char *item)
{
    mortise_test_verdict(mortise_test_hook(test, &audit_hooks, prompt_submit, .item = item),
                         MORTISE_CONTINUE, "");
}

/* A string member of a line; "": it has none. */
static const char *member(const char *line, const char *key)
{
    static char text[256];
    text[0] = '\0';
    mortise_json_string(line, key, text, sizeof(text));
    return text;
}

static void writes_one_line_per_event(void) /* M4 */
{
    char path[64], config[128], first[512] = "", second[512] = "", third[512] = "";
    struct stat status;
    make_path(path);
    snprintf(config, sizeof(config), "{\"file\":\"%s\"}", path);
    mortise_test *test = mortise_test_open(config);
    mortise_test_context(test, "session", "s-1");
    submit(test, "{\"type\":\"message\",\n\"role\":\"user\",\"content\":[]}");
    mortise_test_hook(test, &audit_hooks, on_abort, .reason = "because\n");
    mortise_test_true(!mortise_test_has_hooks(test, &audit_deltas_hooks));
    mortise_test_hook(test, &audit_results_hooks, post_tool_call, .result = "no", .is_error = true);
    mortise_test_close(test);

    FILE *in = fopen(path, "r");
    if (mortise_test_true(in != NULL)) {
        mortise_test_true(fgets(first, sizeof(first), in) && fgets(second, sizeof(second), in) &&
                          fgets(third, sizeof(third), in));
        mortise_test_true(fgetc(in) == EOF);
        fclose(in);
    }
    mortise_test_true(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
    mortise_test_same(member(first, "event"), "prompt_submit");
    mortise_test_same(member(first, "session"), "s-1");
    mortise_test_same(member(first, "user"), "anonymous");
    mortise_test_same(member(second, "event"), "on_abort");
    mortise_test_same(member(second, "reason"), "because\n");
    mortise_test_same(member(third, "result"), "no");
    mortise_test_same(member(third, "error_code"), "tool.error");
    unlink(path);
}

static void does_nothing_without_a_file(void)
{
    unsetenv("MORTISE_AUDIT_FILE");
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_true(!mortise_test_has_hooks(test, &audit_hooks));
    mortise_test_true(!mortise_test_has_hooks(test, &audit_results_hooks));
    mortise_test_close(test);
}

static void writes_deltas_when_asked_to(void)
{
    char path[64], config[128], line[512] = "";
    make_path(path);
    snprintf(config, sizeof(config), "{\"file\":\"%s\",\"deltas\":true}", path);
    mortise_test *test = mortise_test_open(config);
    mortise_test_hook(test, &audit_deltas_hooks, text_delta, .text = "He");
    mortise_test_close(test);
    FILE *in = fopen(path, "r");
    if (mortise_test_true(in != NULL)) {
        mortise_test_true(fgets(line, sizeof(line), in) != NULL);
        fclose(in);
    }
    mortise_test_same(member(line, "event"), "text_delta");
    mortise_test_same(member(line, "text"), "He");
    unlink(path);
}

int main(void)
{
    writes_one_line_per_event();
    writes_deltas_when_asked_to();
    does_nothing_without_a_file();
    mortise_test_refused("{\"file\":\"/nonexistent/audit.jsonl\"}",
                         "cannot write '/nonexistent/audit.jsonl'");
    return mortise_test_status();
}
