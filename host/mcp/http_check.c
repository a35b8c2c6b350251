#include "mcp/http_check.h"

#include <string.h>
#include <strings.h>

#define PATH      "/mcp"

#define TOKEN_MIN 16

static bool refuse(struct http_refusal *refusal, int status, const char *problem, const char *field)
{
    *refusal = (struct http_refusal){status, problem, field};
    return false;
}

/* ---- who asks ----------------------------------------------------------------------------- */

/* Without the port; empty: it is no host with, perhaps, a port. */
static struct slice host_of(struct slice authority)
{
    size_t length = 0;
    if (authority.length && *authority.data == '[') {
        const char *bracket = memchr(authority.data, ']', authority.length);
        length = bracket ? (size_t)(bracket - authority.data) + 1 : 0;
    } else {
        while (length < authority.length && authority.data[length] != ':')
            length++;
    }
    for (size_t i = length; i < authority.length; i++)
        if (i == length ? authority.data[i] != ':'
                        : authority.data[i] < '0' || authority.data[i] > '9')
            return (struct slice){authority.data, 0};
    return (struct slice){authority.data, length};
}

static bool is_this_machine(const struct http_policy *policy, struct slice authority)
{
    struct slice host = host_of(authority);
    return http_is_word(host, "localhost") || slice_is(host, "127.0.0.1") ||
           slice_is(host, "[::1]") || (policy->host && http_is_word(host, policy->host));
}

static bool check_host(const struct http_policy *policy, const struct http_head *head,
                       struct http_refusal *refusal)
{
    struct slice host = http_head_value(head, "Host");
    if (!host.data)
        return (head->is_old && policy->is_public && !http_head_next(head, "Host", NULL)) ||
               refuse(refusal, 400, "there must be one Host", "");
    return policy->is_public || is_this_machine(policy, host) ||
           refuse(refusal, 403, "Host is not this machine", "");
}

static bool starts_with(struct slice text, const char *word)
{
    return text.length >= strlen(word) && strncasecmp(text.data, word, strlen(word)) == 0;
}

static struct slice without(struct slice text, const char *start)
{
    size_t length = strlen(start);
    return (struct slice){text.data + length, text.length - length};
}

static bool same(struct slice one, struct slice other)
{
    return one.length == other.length && strncasecmp(one.data, other.data, one.length) == 0;
}

static bool check_origin(const struct http_policy *policy, const struct http_head *head,
                         struct http_refusal *refusal)
{
    if (!http_head_next(head, "Origin", NULL))
        return true;
    struct slice origin = http_head_value(head, "Origin"); /* no data: there are several */
    struct slice authority = {NULL, 0};
    if (starts_with(origin, "http://"))
        authority = without(origin, "http://");
    else if (starts_with(origin, "https://"))
        authority = without(origin, "https://");
    bool allowed =
        authority.length && (policy->is_public ? same(authority, http_head_value(head, "Host"))
                                               : is_this_machine(policy, authority));
    return allowed || refuse(refusal, 403, "Origin is not this machine", "");
}

/* Takes as long for each guess, however much of it is right. */
static bool is_token(const char *token, struct slice guess)
{
    size_t length = strlen(token);
    unsigned char difference = guess.length != length;
    for (size_t i = 0; i < guess.length; i++)
        difference |= (unsigned char)(guess.data[i] ^ token[i % length]);
    return !difference;
}

static bool check_token(const struct http_policy *policy, const struct http_head *head,
                        struct http_refusal *refusal)
{
    if (!policy->token)
        return true;
    if (!http_head_next(head, "Authorization", NULL))
        return refuse(refusal, 401, "a token is needed",
                      "WWW-Authenticate: Bearer realm=\"mortise\"\r\n");
    struct slice value = http_head_value(head, "Authorization");
    if (starts_with(value, "Bearer ") &&
        is_token(policy->token, http_trim(without(value, "Bearer "))))
        return true;
    return refuse(refusal, 401, "the token is not the right one",
                  "WWW-Authenticate: Bearer realm=\"mortise\", error=\"invalid_token\"\r\n");
}

bool http_token_check(const char *token, size_t length, const char *source, struct error *error)
{
    if (length < TOKEN_MIN)
        return error_set(error, ERROR_CONFIG,
                         "the token in '%s' is shorter than %d characters; make one with "
                         "'openssl rand -hex 32'",
                         source, TOKEN_MIN);
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~')
            return error_set(error, ERROR_CONFIG,
                             "the token in '%s' has other characters than letters, digits and "
                             "signs; make one with 'openssl rand -hex 32'",
                             source);
    return true;
}

/* ---- what is asked for -------------------------------------------------------------------- */

static bool is_path(struct slice target)
{
    const char *query = memchr(target.data, '?', target.length);
    return slice_is(
        (struct slice){target.data, query ? (size_t)(query - target.data) : target.length}, PATH);
}

static bool is_json(struct slice type)
{
    const char *parameters = memchr(type.data, ';', type.length);
    if (parameters)
        type.length = (size_t)(parameters - type.data);
    return http_is_word(http_trim(type), "application/json");
}

static bool check_body(const struct http_policy *policy, const struct http_head *head,
                       struct http_refusal *refusal)
{
    struct slice type = http_head_value(head, "Content-Type");
    if (!type.data || !is_json(type))
        return refuse(refusal, 415, "Content-Type must be application/json", "");
    if (http_head_next(head, "Content-Encoding", NULL))
        return refuse(refusal, 415, "the body must not be encoded", "");
    if (head->length > policy->body_max)
        return refuse(refusal, 413, "the message is too long", "");
    return true;
}

bool http_check(const struct http_policy *policy, const struct http_head *head,
                struct http_refusal *refusal)
{
    if (!check_host(policy, head, refusal) || !check_origin(policy, head, refusal) ||
        !check_token(policy, head, refusal))
        return false;
    if (!is_path(head->target))
        return refuse(refusal, 404, "there is only " PATH, "");
    if (!slice_is(head->method, "POST"))
        return refuse(refusal, 405, "messages are sent with POST", "Allow: POST\r\n");
    return check_body(policy, head, refusal);
}
