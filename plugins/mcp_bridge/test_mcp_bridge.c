/* The parts of the bridge that need no server; with servers: tests/e2e/test_mcp_bridge.py. */
#include <mortise/test.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "expand.h"
#include "mcp_bridge.c"
#include "rpc.h"
#include "schema_repair.h"

static char folder[] = "/tmp/mortise-mcp-XXXXXX";

static char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* ---- variables ---- */

/* C1 */
static void test_expand(void)
{
    static const struct {
        const char *text, *expected; /* NULL: it fails */
    } rows[] = {
        {"plain $WORD $$ {x} }", "plain $WORD $$ {x} }"},
        {"a ${WORD}-${env:WORD}/${env://WORD}", "a w-w/w"},
        {"${NOPE:-}${NOPE:-b c}${env:NOPE:-d}${env://NOPE:-e:-f}", "b cde:-f"},
        {"${EMPTY:-x}${EMPTY}", "x"},
        {"${NOPE}", NULL},
        {"${env:NOPE}", NULL},
        {"${input:key}", NULL},
        {"${}", NULL},
        {"${1A:-x}", NULL},
        {"${A-B}", NULL},
        {"tail ${WORD", NULL},
    };
    setenv("WORD", "w", 1);
    setenv("EMPTY", "", 1);
    unsetenv("NOPE");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char problem[200] = "";
        char *text = expand(rows[i].text, problem, sizeof(problem));
        mortise_test_same(text, rows[i].expected);
        mortise_test_true((text != NULL) == (problem[0] == '\0'));
        free(text);
    }
}

/* ---- configuration ---- */

static struct buffer lines;

static void keep_line(void *self, uint32_t level, const char *text)
{
    (void)self, (void)level;
    buffer_puts(&lines, text);
    buffer_puts(&lines, "\n");
}

static const struct config_report report = {keep_line, NULL};
static const struct limits usual = {.connect_ms = 30000, .timeout_ms = 60000, .max_ms = 60000};

static struct server_list read_servers(const char *json)
{
    struct server_list list = {0};
    buffer_clear(&lines);
    mortise_test_true(config_read_text(&list, "mcp.json", json, &usual, &report));
    return list;
}

/* C1 */
static void test_what_a_server_can_say(void)
{
    struct server_list list = read_servers(
        "{\"mcpServers\":{"
        "\"a\":{\"type\":\"local\",\"command\":[\"x\",\"y\"],\"args\":[\"${WORD}\"],\"cwd\":\"/\","
        "\"environment\":{\"K\":\"${WORD}\"},\"enabled_tools\":[\"t\"],\"disabled_tools\":[\"u\"],"
        "\"tool_timeout_sec\":1.5,\"startup_timeout_sec\":2,\"era\":\"legacy\"},"
        "\"b\":{\"url\":\"https://h/mcp\",\"headers\":{\"Authorization\":\"Bearer ${WORD}\"},"
        "\"timeout\":100,\"maxTimeout\":900},"
        "\"c\":{\"type\":\"streamableHttp\",\"url\":\"http://h\",\"headers\":[\"X-A:  1\"]},"
        "\"d\":{\"command\":\"x\",\"disabled\":true},\"e\":{\"command\":\"x\",\"enabled\":false}}"
        "}");
    mortise_test_true(list.count == 3);
    const struct server_config *a = list.servers[0], *b = list.servers[1], *c = list.servers[2];
    mortise_test_same(a->command[1], "y");
    mortise_test_same(a->command[2], "w");
    mortise_test_same(a->environment[0], "K=w");
    mortise_test_same(a->folder, "/");
    mortise_test_same(a->allowed[0], "t");
    mortise_test_same(a->excluded[0], "u");
    mortise_test_true(a->limits.timeout_ms == 1500 && a->limits.max_ms == 1500);
    mortise_test_true(a->limits.connect_ms == 2000 && a->era == ERA_LEGACY && !a->is_http);
    mortise_test_true(b->is_http && b->header_count == 1);
    mortise_test_same(b->headers[0].value, "Bearer w");
    mortise_test_true(b->limits.timeout_ms == 100 && b->limits.max_ms == 900);
    mortise_test_same(c->headers[0].name, "X-A");
    mortise_test_same(c->headers[0].value, "1");
    mortise_test_true(strcmp(a->key, b->key) != 0 && strlen(a->key) == 32);
    mortise_test_same(lines.text && lines.length ? strstr(lines.text, "left out") : NULL, NULL);

    struct server_list again = read_servers(
        "{\"servers\":{\"b\":{\"url\":\"https://h/mcp\",\"timeout\":100,\"maxTimeout\":900,"
        "\"headers\":{\"Authorization\":\"Bearer ${WORD}\"},\"excludedTools\":[\"q\"]}}}");
    mortise_test_same(again.servers[0]->key, b->key); /* the same server */
    config_release(&again);
    again = read_servers("{\"servers\":{\"b\":{\"url\":\"https://h/mcp\",\"timeout\":100}}}");
    mortise_test_true(strcmp(again.servers[0]->key, b->key) != 0);
    config_release(&again);
    config_release(&list);
}

/* C1 */
static void test_what_is_refused(void)
{
    static const struct {
        const char *entry, *reason;
    } rows[] = {
        {"7", "must be an object"},
        {"{}", "neither a \"command\" nor a \"url\""},
        {"{\"command\":\"x\",\"url\":\"http://h\"}", "keep one"},
        {"{\"command\":\"\"}", "\"command\" is empty"},
        {"{\"command\":[]}", "\"command\" is empty"},
        {"{\"command\":[\"x\",null]}", "list of strings"},
        {"{\"command\":{}}", "\"command\" must be a string"},
        {"{\"command\":\"x\",\"args\":\"y\"}", "\"args\" must be a list"},
        {"{\"command\":\"x\",\"args\":[1]}", "\"args\" must be a string"},
        {"{\"command\":\"x\",\"env\":[]}", "\"env\" must be an object"},
        {"{\"command\":\"x\",\"env\":{\"A=B\":\"c\"}}", "no name of a variable"},
        {"{\"command\":\"x\",\"env\":{\"A\":1}}", "'A' must be a string"},
        {"{\"command\":\"${NOPE}\"}", "'NOPE' is not set"},
        {"{\"type\":\"http\",\"command\":\"x\"}", "no \"url\""},
        {"{\"type\":\"stdio\",\"url\":\"http://h\"}", "no \"command\""},
        {"{\"type\":\"sse\",\"url\":\"http://h\"}", "'sse' is not spoken"},
        {"{\"type\":\"ws\",\"url\":\"http://h\"}", "'ws' is not spoken"},
        {"{\"type\":\"pigeon\",\"command\":\"x\"}", "'pigeon' is not known"},
        {"{\"url\":\"file:///etc/passwd\"}", "must begin with http"},
        {"{\"url\":\"http://h\",\"headers\":{\"A\\nB\":\"c\"}}", "cannot be in the head"},
        {"{\"url\":\"http://h\",\"headers\":{\"A\":\"c\\r\\nD: e\"}}", "cannot be in the head"},
        {"{\"url\":\"http://h\",\"headers\":[\"A\"]}", "Name: value"},
        {"{\"url\":\"http://h\",\"headers\":[1]}", "must be a string"},
        {"{\"command\":\"x\",\"timeout\":-1}", "\"timeout\" must be a time"},
        {"{\"command\":\"x\",\"timeout\":\"1\"}", "\"timeout\" must be a time"},
        {"{\"command\":\"x\",\"era\":\"old\"}", "\"era\" must be"},
        {"{\"command\":\"x\",\"disabled\":\"yes\"}", "\"disabled\" must be true or false"},
        {"{\"command\":\"x\",\"allowedTools\":\"*\"}", "list of strings"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char json[512];
        snprintf(json, sizeof(json), "{\"mcpServers\":{\"bad\":%s,\"good\":{\"command\":\"x\"}}}",
                 rows[i].entry);
        struct server_list list = read_servers(json);
        mortise_test_true(list.count == 1);
        mortise_test_contains(lines.text, "mcp.json: server 'bad' is left out: ");
        mortise_test_contains(lines.text, rows[i].reason);
        config_release(&list);
    }
    static const char *const files[] = {
        "", "[", "[]", "7", "{}", "{\"mcpServers\":[]}", "{\"mcpServers\":{}} x"};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct server_list list = read_servers(files[i]);
        mortise_test_true(list.count == 0);
        mortise_test_contains(lines.text, "mcp.json: it ");
        config_release(&list);
    }
    struct server_list list = read_servers("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"q\":1,"
                                           "\"r\":2},\"a\":{\"command\":\"y\"},\"\":{}}}");
    mortise_test_true(list.count == 1);
    mortise_test_contains(lines.text, "server 'a': not known here: \"q\", \"r\"");
    mortise_test_contains(lines.text, "another of that name");
    mortise_test_contains(lines.text, "it has no name");
    config_release(&list);
}

/* ---- names ---- */

/* C8 */
static void test_names(void)
{
    char name[NAME_SIZE], other[NAME_SIZE], tool[200];
    name_make(name, "srv", "tool");
    mortise_test_same(name, "srv__tool");
    name_make(name, "my srv", "a.b/\xc3\xa4");
    mortise_test_same(name, "my_srv__a_b___");
    memset(tool, 'x', sizeof(tool));
    tool[59] = '\0';
    name_make(name, "srv", tool); /* 64 bytes are enough */
    mortise_test_true(strlen(name) == 64 && strspn(name + 5, "x") == 59);
    tool[59] = 'x';
    tool[150] = '\0';
    name_make(name, "srv", tool);
    tool[149] = 'y';
    name_make(other, "srv", tool);
    mortise_test_true(strlen(name) == 64 && strlen(other) == 64 && strcmp(name, other) != 0);
    mortise_test_true(memcmp(name, other, 55) == 0);
    name_make(other, "srv", tool);
    name_make(name, "srv", tool);
    mortise_test_same(name, other);
    name_make_other(name, "srv", "a.b");
    name_make_other(other, "srv", "a b");
    mortise_test_true(strcmp(name, other) != 0 && strncmp(name, "srv__a_b_", 9) == 0);
}

/* ---- messages ---- */

/* C11 */
static void test_messages_are_read(void)
{
    struct rpc rpc;
    rpc_read(&rpc, "{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{\"a\":1}}");
    mortise_test_true(rpc.has_number && rpc.number == 12 && rpc.result && !rpc.has_method);
    static const char *const others[] = {"\"12\"", "null", "1.5", "true", "{}", "[12]"};
    static char heap[8192];
    memset(heap, '1', sizeof(heap) - 1);
    memcpy(heap, "{\"method\":\"ping\",\"id\":", 23);
    heap[sizeof(heap) - 2] = '}';
    rpc_read(&rpc, heap);
    mortise_test_true(rpc.has_method && !rpc.id); /* it would go back as it came */
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        char json[100];
        snprintf(json, sizeof(json), "{\"id\":%s,\"result\":{}}", others[i]);
        rpc_read(&rpc, json);
        mortise_test_true(!rpc.has_number);
    }
    rpc_read(&rpc, "{\"method\":\"ping\",\"id\":\"q\",\"params\":[]}");
    mortise_test_true(rpc.has_method && rpc.id && !rpc.params);
    struct buffer text = BUFFER_INIT;
    rpc_answer(&text, &rpc);
    mortise_test_same(text.text, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{}}");
    buffer_release(&text);
}

/* C4 */
static void test_messages_are_written(void)
{
    struct buffer text = BUFFER_INIT;
    rpc_write(&text, &(struct rpc_request){.method = "notifications/initialized", .members = ""});
    mortise_test_same(text.text, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    buffer_clear(&text);
    rpc_write(&text, &(struct rpc_request){.id = 3,
                                           .method = "tools/call",
                                           .has_token = true,
                                           .members = "\"name\":\"x\",\"arguments\":{\n}"});
    mortise_test_same(text.text,
                      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":"
                      "{\"name\":\"x\",\"arguments\":{ },\"_meta\":{\"progressToken\":3}}}");
    buffer_clear(&text);
    rpc_write(&text, &(struct rpc_request){
                         .id = 4, .method = "tools/list", .members = "", .is_modern = true});
    mortise_test_contains(text.text,
                          "\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
                          "\"2026-07-28\"");
    buffer_release(&text);
}

/* ---- the cache ---- */

static void put_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    mortise_test_true(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
        chmod(path, mode);
    }
}

/* C27 */
static void test_cache(void)
{
    static const char key[] = "0123456789abcdef0123456789abcdef";
    static const char good[] = "{\"format\":1,\"era\":\"modern\",\"version\":\"2026-07-28\","
                               "\"expires_ms\":7,\"tools\":[{\"name\":\"a\"}]}";
    char place[300];
    setenv("XDG_CACHE_HOME", folder, 1);
    mortise_test_true(cache_read(key) == NULL);
    struct listing *listing =
        listing_new(strdup("[{\"name\":\"a\"},{}]"), 2, strdup("{\"name\":\"s\"}"));
    listing->is_modern = true;
    listing->expires_ms = 12345;
    snprintf(listing->version, sizeof(listing->version), "2026-07-28");
    cache_write(key, listing);
    listing_unref(listing);
    listing = cache_read(key);
    mortise_test_true(listing && listing->count == 2 && listing->is_modern &&
                      listing->expires_ms == 12345);
    mortise_test_same(listing->tools, "[{\"name\":\"a\"},{}]");
    mortise_test_same(listing->server, "{\"name\":\"s\"}");
    listing_unref(listing);

    snprintf(place, sizeof(place), "%s/mortise/mcp/%s.json", folder, key);
    put_file(place, good, 0600);
    listing = cache_read(key);
    mortise_test_true(listing != NULL);
    listing_unref(listing);
    put_file(place, good, 0620); /* somebody else may have written it */
    mortise_test_true(cache_read(key) == NULL);
    static const char *const bad[] = {
        "",
        "[]",
        "{\"format\":1}",
        "{\"format\":1,\"era\":\"legacy\",\"version\":\"v\",\"tools\":{}}",
        "{\"format\":1,\"era\":\"legacy\",\"version\":\"v\",\"tools\":[1]}",
        "{\"format\":1,\"era\":\"legacy\",\"version\":\"v\",\"tools\":[{}]",
        "{\"format\":2,\"era\":\"legacy\",\"version\":\"v\",\"tools\":[]}",
        "{\"format\":1,\"era\":\"legacy\",\"version\":\"v\",\"tools\":[],\"server\":[]}",
        "{\"format\":1,\"era\":\"legacy\",\"version\":\"a version that is longer than any is\","
        "\"tools\":[]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        put_file(place, bad[i], 0600);
        mortise_test_true(cache_read(key) == NULL);
    }
    unlink(place);
    put_file(in_folder("other"), good, 0600);
    mortise_test_true(symlink(in_folder("other"), place) == 0);
    mortise_test_true(cache_read(key) == NULL); /* it is no link of ours */
    unlink(place);
}

/* ---- tools ---- */

static struct server_config any = {.name = (char *)(uintptr_t) "s"};

static struct tool_facts facts_of(const char *json, const char *problem)
{
    struct tool_facts facts;
    char reason[300] = "(none)";
    bool is_good = tool_read(&facts, json, &any, reason, sizeof(reason));
    mortise_test_true(is_good == !problem);
    if (problem)
        mortise_test_contains(reason, problem);
    return facts;
}

/* C9, C10 */
static void test_tools_are_read(void)
{
    static const struct {
        const char *hints;
        uint32_t flags;
    } rows[] = {
        {"null", MORTISE_DESTRUCTIVE | MORTISE_OPEN_WORLD},
        {"{}", MORTISE_DESTRUCTIVE | MORTISE_OPEN_WORLD},
        {"{\"destructiveHint\":false,\"openWorldHint\":false}", 0},
        {"{\"readOnlyHint\":true,\"idempotentHint\":true}",
         MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_IDEMPOTENT | MORTISE_OPEN_WORLD},
        {"{\"readOnlyHint\":\"yes\",\"openWorldHint\":0}",
         MORTISE_DESTRUCTIVE | MORTISE_OPEN_WORLD},
    };
    struct tool_facts facts;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char json[300];
        snprintf(json, sizeof(json), "{\"name\":\"t\",\"annotations\":%s}", rows[i].hints);
        facts = facts_of(json, NULL);
        mortise_test_true(facts.flags == rows[i].flags);
        tool_facts_release(&facts);
    }
    facts =
        facts_of("{\"name\":\"t\",\"description\":\"d\",\"annotations\":{\"title\":\"T\"},"
                 "\"inputSchema\": { \"type\" : \"object\",\"$defs\":{\"x\":{\"$anchor\":\"y\"}}},"
                 "\"outputSchema\":{\"type\":\"object\"}}",
                 NULL);
    mortise_test_same(facts.title, "T");
    mortise_test_same(facts.description, "d");
    mortise_test_same(facts.schema,
                      "{ \"type\" : \"object\",\"$defs\":{\"x\":{\"$anchor\":\"y\"}}}");
    mortise_test_same(facts.output_schema, "{\"type\":\"object\"}");
    tool_facts_release(&facts);
    facts = facts_of("{\"name\":\"t\",\"inputSchema\":{\"properties\":{}},\"outputSchema\":"
                     "{\"type\":\"array\"}}",
                     NULL);
    mortise_test_same(facts.schema, "{\"type\":\"object\",\"properties\":{}}");
    mortise_test_same(facts.output_schema, NULL);
    tool_facts_release(&facts);
    facts = facts_of("{\"name\":\"t\",\"inputSchema\":{ }}", NULL);
    mortise_test_same(facts.schema, "{\"type\":\"object\" }");
    tool_facts_release(&facts);

    static const char *const bad[][2] = {
        {"{}", "no name"},
        {"{\"name\":7}", "no name"},
        {"{\"name\":\"\"}", "no name"},
        {"{\"name\":\"t\",\"inputSchema\":[]}", "no object"},
        {"{\"name\":\"t\",\"execution\":{\"taskSupport\":\"required\"}}", "as a task only"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        facts = facts_of(bad[i][0], bad[i][1]);
        tool_facts_release(&facts);
    }
}

/* C9; FAULTS 124 */
static void test_schemas_are_repaired(void)
{
    static const char *const rows[][2] = {
        {"{\"type\":\"object\",\"required\":null}", "{\"type\":\"object\"}"},
        {"{\"required\":null,\"type\":\"object\"}", "{\"type\":\"object\"}"},
        {"{\"properties\":{\"n\":{\"minimum\":0,\"exclusiveMinimum\":true,\"required\":true}}}",
         "{\"properties\":{\"n\":{\"exclusiveMinimum\":0}}}"},
        {"{\"items\":[{\"maximum\":9,\"exclusiveMaximum\":false}],\"anyOf\":[{\"title\":null}]}",
         "{\"items\":[{\"maximum\":9}],\"anyOf\":[{}]}"},
        /* a property may be called like a keyword, and a value may be null */
        {"{\"properties\":{\"required\":{\"type\":\"null\",\"default\":null}}, \"x\": [null] }",
         NULL},
        {"{\"properties\":{\"a\\u0062\":{\"required\":null}}}",
         "{\"properties\":{\"a\\u0062\":{}}}"},
        {"{\"minimum\":1,\"exclusiveMinimum\":0}", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct buffer out = BUFFER_INIT;
        schema_repair(rows[i][0], &out);
        mortise_test_same(out.text, rows[i][1] ? rows[i][1] : rows[i][0]);
        buffer_release(&out);
    }
}

/* C9: a keyword that is there again and again costs no more than any other. */
static void test_schemas_of_the_hostile(void)
{
    struct buffer schema = BUFFER_INIT, out = BUFFER_INIT;
    buffer_puts(&schema, "{\"type\":\"object\"");
    for (int i = 0; i < 40000; i++)
        buffer_puts(&schema, ",\"minimum\":1");
    buffer_puts(&schema, "}");
    clock_t began = clock();
    schema_repair(schema.text, &out);
    mortise_test_true(clock() - began < 3 * CLOCKS_PER_SEC);
    mortise_test_same(out.text, schema.text);
    buffer_release(&schema);
    buffer_release(&out);
}

/* C8: a mortise that has its own tools from a server gets no end of them. */
static void test_rounds(void)
{
    mortise_test_true(name_rounds("s", "t") == 0 && name_rounds("s", "s__t") == 1);
    mortise_test_true(name_rounds("s", "s__a__s__t") == 2 && name_rounds("s", "__s__s__t") == 2);
    mortise_test_true(name_rounds("s", "files__list__s") == 0);
    mortise_test_true(name_rounds("my srv", "my_srv__x") == 1 &&
                      name_rounds("a__b", "a__b__c") == 1);
    struct tool_facts facts = facts_of("{\"name\":\"s__t\"}", NULL);
    tool_facts_release(&facts);
    facts = facts_of("{\"name\":\"s__s__t\"}", "come through this server twice");
    mortise_test_true(facts.is_no_mistake);
    tool_facts_release(&facts);
}

/* ---- the plugin ---- */

static void test_settings(void)
{
    mortise_test_refused("{\"timeout_ms\":0}", "\"timeout_ms\" must be a whole number");
    mortise_test_refused("{\"close_ms\":5000}", "from 1 to 2000"); /* C20 */
    mortise_test_refused("{\"lazy\":\"no\"}", "must be true or false");
    mortise_test_refused("{\"servers\":\"one\"}", "must be a list of names");
}

/* C1, C3 */
static void test_the_plugin_without_a_good_server(void)
{
    put_file(in_folder("mcp.json"),
             "{\"mcpServers\":{\"gone\":{\"command\":\"/none/such\"},\"bad\":{}}}", 0600);
    setenv("MORTISE_MCP_CONFIG", in_folder("mcp.json"), 1);
    mortise_test *test = mortise_test_open("{\"status_tool\":true,\"backoff_ms\":30000}");
    mortise_test_contains(mortise_test_log(test), "server 'bad' is left out");
    mortise_test_contains(mortise_test_log(test), "'/none/such' cannot be started");
    const mortise_test_result *result =
        mortise_test_run(test, mortise_test_tool(test, "mcp_servers"), "{}");
    mortise_test_json(result, "{\"servers\":[{\"name\":\"gone\",\"transport\":\"stdio\","
                              "\"state\":\"down\",\"problem\":\"'/none/such' cannot be started: "
                              "No such file or directory\",\"tools\":[]}]}");
    mortise_test_close(test);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("MORTISE_MCP_CONFIG", "", 1);
    test_expand();
    test_what_a_server_can_say();
    test_what_is_refused();
    test_names();
    test_messages_are_read();
    test_messages_are_written();
    test_cache();
    test_tools_are_read();
    test_schemas_are_repaired();
    test_schemas_of_the_hostile();
    test_rounds();
    test_settings();
    test_the_plugin_without_a_good_server();
    buffer_release(&lines);
    char command[300];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command) == 0 ? mortise_test_status() : 1;
}
