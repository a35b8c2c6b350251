/* Asks the hook without a host. */
#include <mortise/test.h>

#include "your-hook.c"

static const mortise_tool_meta harmless = {
    .size = sizeof(mortise_tool_meta), .name = "list_files", .flags = MORTISE_READ_ONLY};
static const mortise_tool_meta harmful = {
    .size = sizeof(mortise_tool_meta), .name = "delete_file", .flags = MORTISE_DESTRUCTIVE};

static const mortise_test_decision *ask(mortise_test *test, const mortise_tool_meta *tool)
{
    return mortise_test_hook(test, &your_hook_hooks, pre_tool_call, .meta = tool);
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_verdict(ask(test, &harmless), MORTISE_CONTINUE, "");
    mortise_test_verdict(ask(test, &harmful), MORTISE_SKIP, "'delete_file'");
    int failed = mortise_test_close(test);

    test = mortise_test_open("{\"allow\": [\"move_file\", \"delete_file\"]}");
    mortise_test_verdict(ask(test, &harmful), MORTISE_CONTINUE, "");
    failed |= mortise_test_close(test);

    mortise_test_refused("{\"allow\": \"delete_file\"}", "not a list");
    return failed;
}
