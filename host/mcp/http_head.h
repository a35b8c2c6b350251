/*
 * http_head - the head of a request of HTTP/1, read strictly.
 *
 * What two programs in a row could read differently is no request: a line that ends without CR, a
 * field that goes on in the next line, space before the colon, control characters, a length that
 * is not plain digits or is said twice, or together with a transfer coding.
 */
#ifndef MCP_HTTP_HEAD_H
#define MCP_HTTP_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define HTTP_HEAD_MAX   16384
#define HTTP_FIELDS_MAX 64

struct http_field {
    struct slice name;
    struct slice value; /* without the space around it */
};

/* Slices are borrowed from the bytes that were read. */
struct http_head {
    struct slice method;
    struct slice target;
    bool is_old; /* HTTP/1.0 */
    struct http_field fields[HTTP_FIELDS_MAX];
    size_t count;
    uint64_t length; /* of the body; 0 when it comes in chunks */
    bool is_chunked;
    bool expects_continue;
    bool closes; /* the connection is not to be kept */
};

/* How many of the bytes are the head, with the empty line behind it; 0: it is not whole.  The
 * first `seen` bytes were looked at before. */
size_t http_head_end(const char *data, size_t length, size_t seen);

/* 0, or the status to refuse it with and *problem (static). */
int http_head_read(struct http_head *head, const char *data, size_t length, const char **problem);

/* The next field of this name, in lower or upper case, behind `after` (NULL: from the first on);
 * NULL: no more. */
const struct http_field *http_head_next(const struct http_head *head, const char *name,
                                        const struct http_field *after);
/* The value of the only one; data is NULL when there is none or there are several. */
struct slice http_head_value(const struct http_head *head, const char *name);

/* Whether the bytes are a token of HTTP: a method, the name of a field. */
bool http_is_token(struct slice text);
/* Whether they are this word, in lower or upper case. */
bool http_is_word(struct slice text, const char *word);
/* The next piece of a list that commas separate, without space around it; false: no more. */
bool http_list_next(struct slice *list, struct slice *piece);
/* Without the blanks and tabs around it. */
struct slice http_trim(struct slice text);

#endif
