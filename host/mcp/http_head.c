#include "mcp/http_head.h"

#include <string.h>
#include <strings.h>

/* ---- words -------------------------------------------------------------------------------- */

static bool is_token_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool http_is_token(struct slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!is_token_byte((unsigned char)text.data[i]))
            return false;
    return text.length > 0;
}

bool http_is_word(struct slice text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct slice http_trim(struct slice text)
{
    while (text.length && is_blank(*text.data)) {
        text.data++;
        text.length--;
    }
    while (text.length && is_blank(text.data[text.length - 1]))
        text.length--;
    return text;
}

bool http_list_next(struct slice *list, struct slice *piece)
{
    if (!list->length)
        return false;
    const char *comma = memchr(list->data, ',', list->length);
    size_t length = comma ? (size_t)(comma - list->data) : list->length;
    *piece = http_trim((struct slice){list->data, length});
    size_t taken = comma ? length + 1 : length;
    *list = (struct slice){list->data + taken, list->length - taken};
    return true;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* A head that ends in bare line feeds is whole as well: it is refused when it is read. */
size_t http_head_end(const char *data, size_t length, size_t seen)
{
    size_t from = seen > 2 ? seen - 2 : 0; /* the line feed and what follows it may be cut */
    while (from < length) {
        const char *feed = memchr(data + from, '\n', length - from);
        if (!feed)
            return 0;
        size_t at = (size_t)(feed - data) + 1;
        if (at < length && data[at] == '\n')
            return at + 1;
        if (at + 1 < length && data[at] == '\r' && data[at + 1] == '\n')
            return at + 2;
        from = at;
    }
    return 0;
}

/* Takes the next line, which ends with CR LF.  False: it does not. */
static bool take_line(struct slice *rest, struct slice *line)
{
    const char *feed = memchr(rest->data, '\n', rest->length);
    if (!feed || feed == rest->data || feed[-1] != '\r')
        return false;
    size_t length = (size_t)(feed - rest->data) + 1;
    *line = (struct slice){rest->data, length - 2};
    *rest = (struct slice){rest->data + length, rest->length - length};
    return true;
}

static bool take_word(struct slice *rest, struct slice *word)
{
    const char *blank = memchr(rest->data, ' ', rest->length);
    size_t length = blank ? (size_t)(blank - rest->data) : rest->length;
    *word = (struct slice){rest->data, length};
    size_t taken = blank ? length + 1 : length;
    *rest = (struct slice){rest->data + taken, rest->length - taken};
    return length > 0;
}

static bool is_visible(struct slice text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return true;
}

static int read_version(struct http_head *head, struct slice version, const char **problem)
{
    if (version.length != 8 || memcmp(version.data, "HTTP/", 5) != 0 || version.data[6] != '.') {
        *problem = "the request line is not one of HTTP/1.1";
        return 400;
    }
    if (slice_is(version, "HTTP/1.1") || slice_is(version, "HTTP/1.0")) {
        head->is_old = version.data[7] == '0';
        return 0;
    }
    *problem = "only HTTP/1.1 and HTTP/1.0 are spoken here";
    return 505;
}

static int read_request_line(struct http_head *head, struct slice line, const char **problem)
{
    *problem = "the request line is not one of HTTP/1.1";
    if (!take_word(&line, &head->method) || !http_is_token(head->method) ||
        !take_word(&line, &head->target) || !is_visible(head->target))
        return 400;
    return read_version(head, line, problem);
}

static bool is_value(struct slice value)
{
    for (size_t i = 0; i < value.length; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if ((c < ' ' && c != '\t') || c == 127)
            return false;
    }
    return true;
}

static int read_field(struct http_head *head, struct slice line, const char **problem)
{
    if (head->count == HTTP_FIELDS_MAX) {
        *problem = "there are too many header fields";
        return 431;
    }
    *problem = "a header field is malformed";
    const char *colon = memchr(line.data, ':', line.length);
    if (!colon)
        return 400;
    struct http_field *field = &head->fields[head->count++];
    field->name = (struct slice){line.data, (size_t)(colon - line.data)};
    field->value = http_trim((struct slice){colon + 1, line.length - field->name.length - 1});
    return http_is_token(field->name) && is_value(field->value) ? 0 : 400;
}

/* ---- what frames the body ----------------------------------------------------------------- */

static int read_length(struct http_head *head, const char **problem)
{
    const struct http_field *field = http_head_next(head, "Content-Length", NULL);
    if (!field)
        return 0;
    *problem = "Content-Length is not one plain number";
    if (http_head_next(head, "Content-Length", field) || !field->value.length)
        return 400;
    for (size_t i = 0; i < field->value.length; i++) {
        char digit = field->value.data[i];
        if (digit < '0' || digit > '9')
            return 400;
        if (head->length > UINT64_MAX / 100)
            continue; /* more than anybody can send, whatever follows */
        head->length = head->length * 10 + (uint64_t)(digit - '0');
    }
    return 0;
}

static int read_coding(struct http_head *head, const char **problem)
{
    const struct http_field *field = http_head_next(head, "Transfer-Encoding", NULL);
    if (!field)
        return 0;
    if (http_head_next(head, "Content-Length", NULL) || head->is_old ||
        http_head_next(head, "Transfer-Encoding", field)) {
        *problem = "Transfer-Encoding does not go together with the rest of the header";
        return 400;
    }
    if (!http_is_word(field->value, "chunked")) {
        *problem = "the only Transfer-Encoding is chunked";
        return 501;
    }
    head->is_chunked = true;
    return 0;
}

static int read_expectation(struct http_head *head, const char **problem)
{
    const struct http_field *field = http_head_next(head, "Expect", NULL);
    if (!field || head->is_old)
        return 0;
    head->expects_continue = http_is_word(field->value, "100-continue");
    *problem = "the only Expect is 100-continue";
    return head->expects_continue ? 0 : 417;
}

static void read_connection(struct http_head *head)
{
    head->closes = head->is_old;
    const struct http_field *field = NULL;
    while ((field = http_head_next(head, "Connection", field))) {
        struct slice list = field->value, word;
        while (http_list_next(&list, &word))
            if (http_is_word(word, "close"))
                head->closes = true;
    }
}

int http_head_read(struct http_head *head, const char *data, size_t length, const char **problem)
{
    *head = (struct http_head){.closes = true};
    struct slice rest = {data, length}, line;
    *problem = "a line of the header does not end with CR LF";
    if (!take_line(&rest, &line))
        return 400;
    int status = read_request_line(head, line, problem);
    while (!status) {
        *problem = "a line of the header does not end with CR LF";
        if (!take_line(&rest, &line))
            return 400;
        if (!line.length)
            break;
        status = read_field(head, line, problem);
    }
    if (status || (status = read_length(head, problem)) || (status = read_coding(head, problem)) ||
        (status = read_expectation(head, problem)))
        return status;
    read_connection(head);
    return 0;
}

/* ---- fields ------------------------------------------------------------------------------- */

const struct http_field *http_head_next(const struct http_head *head, const char *name,
                                        const struct http_field *after)
{
    const struct http_field *end = head->fields + head->count;
    for (const struct http_field *at = after ? after + 1 : head->fields; at < end; at++)
        if (http_is_word(at->name, name))
            return at;
    return NULL;
}

struct slice http_head_value(const struct http_head *head, const char *name)
{
    const struct http_field *field = http_head_next(head, name, NULL);
    if (!field || http_head_next(head, name, field))
        return (struct slice){NULL, 0};
    return field->value;
}
