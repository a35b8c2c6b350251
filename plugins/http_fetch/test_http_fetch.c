#include <mortise/test.h>

#include "http_fetch.c"

struct server {
    mortise_http_response answer;
    uint32_t flags;
};

static mortise_status serve(void *data, const mortise_http_request *request,
                            mortise_http_response *response)
{
    struct server *server = data;
    server->flags = request->flags;
    mortise_test_true(request->max_redirects == REDIRECTS);
    *response = server->answer;
    return MORTISE_OK;
}

static struct server server;

static mortise_test *open_fetch(const char *config)
{
    return mortise_test_open_with(
        &(mortise_test_setup){.config = config, .http = serve, .http_data = &server});
}

static const mortise_test_result *fetch(mortise_test *test, const char *type, const char *body)
{
    server.answer = (mortise_http_response){.content_type = type, .body = body};
    return mortise_test_run(
        test, &http_fetch_tool,
        &(http_fetch_args){.url = "https://example.org/a/b.html", .max_chars = 1000});
}

/* What a page reads as. */
static const struct {
    const char *html, *text;
} pages[] = {
    {"<!DOCTYPE html><html><head><title>A\n &amp; B</title><style>x{}</style><script>no</script>"
     "</head><body><h1>Head</h1><p>One\n  two &lt;three&gt; &eacute;&#8364;</p><p>Four<br>five</p>",
     "Title: A & B\n\n# Head\n\nOne two <three> \xC3\xA9\xE2\x82\xAC\n\nFour\nfive"},
    {"<ul><li>a<li><p>b</p><ol><li>c</li><li>d</li></ol><li>e</ul>after",
     "- a\n- b\n\n  1. c\n  2. d\n- e\n\nafter"},
    {"<p>See <a href='../c?x=1&amp;y=2#z'>the <b>page</b></a>, <a href=\"#x\">here</a>, "
     "<a href='javascript:x()'>not</a><a href='/d'></a>.",
     "See [the page](https://example.org/c?x=1&y=2#z), here, not."},
    {"<base href='https://other.example/q/'><a href='r'><div>block</div> link</a>",
     "[block link](https://other.example/q/r)"},
    {"<table><tr><th>A</th><th>B</th></tr><tr><td>1<td>2</table>", "A | B\n1 | 2"},
    {"<pre>  x = 1;\n\n  y;\n</pre>z", "```\n  x = 1;\n\n  y;\n```\n\nz"},
    {"a<blockquote>b<br>c</blockquote>d<hr>e", "a\n\n> b\n> c\n\nd\n\n---\n\ne"},
    {"<img src=x alt='A  cat'><img src=y><svg><title>no</title></svg><noscript>no</noscript>",
     "[image: A cat]"},
    {"use <code>f()</code> <!-- no --> now<script>if (a < b) \"</b>\"</script>", "use `f()` now"},
    {"<h2>a <a href='/l'>b</a></h2>", "## a [b](https://example.org/l)"},
    {"</div></p><b>x<i>y</b>z</i><unknown>w", "xyzw"},
    /* the blocks of a cell do not tear its line apart */
    {"<table><tr><td><p>a</p></td><td><div>b</div><div>c</div></td></tr><tr><td></td><td>d</td>"
     "</tr><tr><td><ul><li>e<li>f</ul></td><td>g</table>h",
     "a | b\nc\n | d\n- e\n- f | g\n\nh"},
    {"<dl><dt>a</dt><dd><p>b</p></dd></dl>", "a\n  b"},
    /* addresses that no standard knows, and browsers do */
    {"<a href=' /a b '>a</a> <a href='/\xC3\xA9?q[]=100%&amp;r=|'>b</a> <a href='/x%20y'>c</a> "
     "<a href='//[::1]/[z]'>d</a> <a href='/e\nf'>e</a> <a href='httpx://f'>f</a>",
     "[a](https://example.org/a%20b) [b](https://example.org/%C3%A9?q%5B%5D=100%25&r=%7C) "
     "[c](https://example.org/x%20y) [d](https://[::1]/%5Bz%5D) [e](https://example.org/ef) f"},
    {"<video>no</video>a<canvas>no</canvas>", "a"},
    {"", "[no text: the page may be made by a program in the browser; 'raw' gives it as it is]"},
};

static void reads_html(void)
{
    mortise_test *test = open_fetch(NULL);
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        mortise_test_text(fetch(test, "text/html; charset=utf-8", pages[i].html), pages[i].text);
    mortise_test_true(server.flags == MORTISE_HTTP_PUBLIC_ONLY);
    mortise_test_close(test);
}

static void knows_charsets(void)
{
    mortise_test *test = open_fetch(NULL);
    static const struct {
        const char *type, *body, *text;
    } cases[] = {
        {"text/plain", "caf\xC3\xA9", "caf\xC3\xA9"},
        {"text/plain", "caf\xE9 \x80", "caf\xC3\xA9 \xE2\x82\xAC"},
        {"text/plain; charset=ISO-8859-1", "caf\xE9\x80", "caf\xC3\xA9\xE2\x82\xAC"},
        {"text/plain;charset=\"Shift_JIS\"", "\x93\xFA", "\xE6\x97\xA5"},
        {"text/plain; charset=utf-8", "a\xFF\xE6\x97", "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"text/plain; charset=utf-8", "a\xF5\x8D\x8D\x8D\xED\xA0\x80z",
         "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz"},
        {"text/plain; charset=nonsense-1", "\xE9", "\xC3\xA9"},
        {"text/plain; charset=//", "x", "x"},
        {"text/plain", "\xEF\xBB\xBFx", "x"},
        {"text/html", "<meta charset=koi8-r><p>\xC4\xC1", "\xD0\xB4\xD0\xB0"},
        {"text/html", "<meta http-equiv=content-type content='text/html; charset=euc-jp'>\xC6\xFC",
         "\xE6\x97\xA5"},
        {"application/json", "{\"a\": 1}", "{\"a\": 1}"},
        {NULL, "<html><p>x", "x"},
        {NULL, "x <y>", "x <y>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        mortise_test_text(fetch(test, cases[i].type, cases[i].body), cases[i].text);
    server.answer = (mortise_http_response){
        .content_type = "text/plain", .body = "\xFF\xFEx\0\xE5\x65", .body_length = 6};
    mortise_test_text(
        mortise_test_run(test, &http_fetch_tool,
                         &(http_fetch_args){.url = "http://a.example/", .max_chars = 9}),
        "x\xE6\x97\xA5");
    mortise_test_close(test);
}

static void keeps_within_bounds(void)
{
    enum { BYTES = 1 << 20 };
    char *body = malloc(BYTES + 1);
    mortise_test *test = open_fetch(NULL);
    body[BYTES] = '\0';
    for (size_t i = 0; i < BYTES; i += 2)
        memcpy(body + i, "\xC3\xA9", 2);
    const mortise_test_result *result = fetch(test, "text/html; charset=utf-8", body);
    mortise_test_contains(result->text, "\xA9\n[only the first 1000 characters are shown");
    mortise_test_true(result->length < 2200 && strncmp(result->text + 1998, "\xC3\xA9\n[", 4) == 0);
    memcpy(body, "<title>x", 8); /* no character of a long one is cut */
    result = fetch(test, "text/html; charset=utf-8", body);
    mortise_test_true(strncmp(result->text, "Title: x\xC3", 9) == 0 &&
                      strncmp(result->text + 7 + 299 - 2, "\xC3\xA9\n", 3) == 0);
    for (size_t i = 0; i + 3 <= BYTES; i += 3)
        memcpy(body + i, "<b>", 3);
    mortise_test_contains(fetch(test, "text/html", body)->text, "nested too deeply");
    for (size_t i = 0; i + 4 <= BYTES; i += 4)
        memcpy(body + i, i < BYTES / 2 ? "<!--" : "</x>", 4);
    fetch(test, "text/html", body);
    for (size_t i = 0; i + 8 <= BYTES; i += 8)
        memcpy(body + i, "<a b='&a", 8);
    fetch(test, "text/html", body);
    mortise_test_close(test);
    free(body);
}

static void attaches_and_refuses(void)
{
    mortise_test *test = open_fetch("{\"private\":true}");
    const mortise_test_result *result = fetch(test, "image/png", "\x89PNG");
    mortise_test_text(result, "image/png, 4 bytes, attached");
    mortise_test_true(result->attachment_count == 1);
    mortise_test_same(result->attachments[0].name, "b.html");
    mortise_test_true(server.flags == 0);
    mortise_test_error(fetch(test, "application/zip", "PK"), MORTISE_INTERNAL, "'application/zip'");
    server.answer = (mortise_http_response){.status = 404, .body = "no"};
    const http_fetch_args args = {.url = "http://a.example/", .max_chars = 100};
    mortise_test_error(mortise_test_run(test, &http_fetch_tool, &args), MORTISE_MISSING, "404");
    server.answer = (mortise_http_response){
        .status = 400, .content_type = "application/json", .body = "{\"error\":\"no 'q'\"}"};
    mortise_test_error(mortise_test_run(test, &http_fetch_tool, &args), MORTISE_INTERNAL,
                       "status 400; it says: {\"error\":\"no 'q'\"}");
    mortise_test_text(fetch(test, "text/plain", ""), "[it is empty]");
    server.answer = (mortise_http_response){.status = 503, .body = ""};
    mortise_test_error(mortise_test_run(test, &http_fetch_tool, &args), MORTISE_UNAVAILABLE, "503");
    mortise_test_error(
        mortise_test_run(test, &http_fetch_tool, &(http_fetch_args){.url = "file:///etc/passwd"}),
        MORTISE_INVALID_INPUT, "must begin with");
    server.answer = (mortise_http_response){
        .content_type = "text/html", .body = "<b>x</b>", .url = "http://b.example/"};
    mortise_test_text(
        mortise_test_run(
            test, &http_fetch_tool,
            &(http_fetch_args){.url = "http://a.example/", .max_chars = 100, .raw = true}),
        "Address: http://b.example/\n\n<b>x</b>");
    mortise_test_close(test);
    mortise_test_refused("{\"private\":1}", "neither true nor false");
    mortise_test_refused("{\"max_bytes\":1}", "1024");
    mortise_test_refused("{\"timeout_s\":\"1\"}", "600");
}

int main(void)
{
    reads_html();
    knows_charsets();
    keeps_within_bounds();
    attaches_and_refuses();
    return mortise_test_status();
}
