#include "provider/wire_error_kind.h"

#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *code;
    struct wire_verdict verdict;
} known_codes[] = {
    {"context_length_exceeded", {ERROR_CONTEXT_OVERFLOW, false}},
    {"exceed_context_size_error", {ERROR_CONTEXT_OVERFLOW, false}},
    {"model_context_window_exceeded", {ERROR_CONTEXT_OVERFLOW, false}},
    {"context_window_exceeded", {ERROR_CONTEXT_OVERFLOW, false}},
    {"request_too_large", {ERROR_CONTEXT_OVERFLOW, false}},
    {"tool_use_failed", {ERROR_TOOL_CALL_MALFORMED, true}},
    {"malformed_function_call", {ERROR_TOOL_CALL_MALFORMED, true}},
    {"content_filter", {ERROR_CONTENT_FILTER, false}},
    {"content_filter_error", {ERROR_CONTENT_FILTER, false}},
    {"content_policy_violation", {ERROR_CONTENT_FILTER, false}},
    {"ResponsibleAIPolicyViolation", {ERROR_CONTENT_FILTER, false}},
    {"data_inspection_failed", {ERROR_CONTENT_FILTER, false}},
    {"insufficient_quota", {ERROR_RATE_LIMIT, false}},
    {"exceeded_current_quota_error", {ERROR_RATE_LIMIT, false}},
    {"billing_hard_limit_reached", {ERROR_RATE_LIMIT, false}},
    {"billing_not_active", {ERROR_RATE_LIMIT, false}},
    {"billing_error", {ERROR_AUTH, false}},
    {"authentication_error", {ERROR_AUTH, false}},
    {"permission_error", {ERROR_AUTH, false}},
    {"invalid_api_key", {ERROR_AUTH, false}},
    {"invalid_authentication_error", {ERROR_AUTH, false}},
    {"UNAUTHENTICATED", {ERROR_AUTH, false}},
    {"PERMISSION_DENIED", {ERROR_AUTH, false}},
    {"overloaded_error", {ERROR_OVERLOADED, true}},
    {"overloaded", {ERROR_OVERLOADED, true}},
    {"engine_overloaded_error", {ERROR_OVERLOADED, true}},
    {"rate_limit_error", {ERROR_RATE_LIMIT, true}},
    {"rate_limit_exceeded", {ERROR_RATE_LIMIT, true}},
    {"rate_limit_reached_error", {ERROR_RATE_LIMIT, true}},
    {"too_many_requests", {ERROR_RATE_LIMIT, true}},
    {"RESOURCE_EXHAUSTED", {ERROR_RATE_LIMIT, true}},
    {"ThrottlingException", {ERROR_RATE_LIMIT, true}},
    {"ServiceQuotaExceededException", {ERROR_RATE_LIMIT, false}},
    {"AccessDeniedException", {ERROR_AUTH, false}},
    {"ModelTimeoutException", {ERROR_TIMEOUT, true}},
    {"ModelErrorException", {ERROR_SERVER, true}},
    {"ModelStreamErrorException", {ERROR_SERVER, true}},
    {"InternalServerException", {ERROR_SERVER, true}},
    {"ServiceUnavailableException", {ERROR_SERVER, true}},
    {"ModelNotReadyException", {ERROR_SERVER, true}},
    {"ValidationException", {ERROR_BAD_REQUEST, false}},
    {"timeout_error", {ERROR_TIMEOUT, true}},
    {"request_timeout", {ERROR_TIMEOUT, true}},
    {"DEADLINE_EXCEEDED", {ERROR_TIMEOUT, true}},
    {"api_error", {ERROR_SERVER, true}},
    {"server_error", {ERROR_SERVER, true}},
    {"internal_error", {ERROR_SERVER, true}},
    {"internal_server_error", {ERROR_SERVER, true}},
    {"INTERNAL", {ERROR_SERVER, true}},
    {"UNAVAILABLE", {ERROR_SERVER, true}},
    {"service_unavailable", {ERROR_SERVER, true}},
    {"not_found_error", {ERROR_BAD_REQUEST, false}},
    {"NotFoundError", {ERROR_BAD_REQUEST, false}},
    {"model_not_found", {ERROR_BAD_REQUEST, false}},
    {"invalid_request_error", {ERROR_BAD_REQUEST, false}},
    {"BadRequestError", {ERROR_BAD_REQUEST, false}},
    {"INVALID_ARGUMENT", {ERROR_BAD_REQUEST, false}},
    {"invalid_prompt", {ERROR_BAD_REQUEST, false}},
};

/* Looked for without regard to case.  `vague` words count only without a status. */
static const struct {
    const char *words;
    bool vague;
    struct wire_verdict verdict;
} known_words[] = {
    {"maximum context length", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"model's context length", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"context length exceeded", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"context_length_exceeded", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"context length of only", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"the context overflows", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"available context size", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"context size has been exceeded", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"exceed context limit", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"exceeds the context window", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"exceeds the model's context window", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"exceeds the maximum number of tokens", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"maximum prompt length", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"prompt is too long", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"prompt too long", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"input is too long", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"range of input length should be", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"reduce the length of the messages", false, {ERROR_CONTEXT_OVERFLOW, false}},
    {"failed to call a function", false, {ERROR_TOOL_CALL_MALFORMED, true}},
    {"content management policy", false, {ERROR_CONTENT_FILTER, false}},
    {"content filter", false, {ERROR_CONTENT_FILTER, false}},
    {"our safety system", false, {ERROR_CONTENT_FILTER, false}},
    {"input was flagged", false, {ERROR_CONTENT_FILTER, false}},
    {"may contain inappropriate content", false, {ERROR_CONTENT_FILTER, false}},
    {"api key not valid", false, {ERROR_AUTH, false}},
    {"invalid api key", false, {ERROR_AUTH, false}},
    {"incorrect api key", false, {ERROR_AUTH, false}},
    {"overloaded", true, {ERROR_OVERLOADED, true}},
    {"rate limit", true, {ERROR_RATE_LIMIT, true}},
    {"too many requests", true, {ERROR_RATE_LIMIT, true}},
    {"timed out", true, {ERROR_TIMEOUT, true}},
};

static bool verdict_of_codes(const struct wire_finding *finding, struct wire_verdict *verdict)
{
    for (size_t known = 0; known < COUNT(known_codes); known++) {
        for (size_t i = 0; i < finding->code_count; i++) {
            if (!strcasecmp(finding->codes[i], known_codes[known].code)) {
                *verdict = known_codes[known].verdict;
                return true;
            }
        }
    }
    return false;
}

static bool verdict_of_words(const struct wire_finding *finding, struct wire_verdict *verdict)
{
    for (size_t i = 0; i < COUNT(known_words); i++) {
        if (known_words[i].vague && finding->status)
            continue;
        if (strcasestr(finding->message, known_words[i].words)) {
            *verdict = known_words[i].verdict;
            return true;
        }
    }
    return false;
}

static struct wire_verdict verdict_of_status(int status)
{
    switch (status) {
    case 401:
    case 402:
    case 403:
        return (struct wire_verdict){ERROR_AUTH, false};
    case 408:
    case 504:
        return (struct wire_verdict){ERROR_TIMEOUT, true};
    case 409:
    case 424: /* a model behind the server failed */
    case 425:
        return (struct wire_verdict){ERROR_SERVER, true};
    case 413:
        return (struct wire_verdict){ERROR_CONTEXT_OVERFLOW, false};
    case 429:
        return (struct wire_verdict){ERROR_RATE_LIMIT, true};
    case 529:
        return (struct wire_verdict){ERROR_OVERLOADED, true};
    default:
        return status > 0 && status < 500 ? (struct wire_verdict){ERROR_BAD_REQUEST, false}
                                          : (struct wire_verdict){ERROR_SERVER, true};
    }
}

/* Some statuses leave no room: a 429 stays a rate limit even if its text talks of tokens. */
static bool is_plain_status(int status)
{
    return status == 401 || status == 402 || status == 408 || status == 413 || status == 529 ||
           (status >= 502 && status <= 504);
}

struct wire_verdict wire_error_judge(const struct wire_finding *finding)
{
    struct wire_verdict by_status = verdict_of_status(finding->status);
    struct wire_verdict verdict = by_status;
    bool has_code = verdict_of_codes(finding, &verdict);
    if (finding->status == 429)
        return has_code && verdict.kind == ERROR_RATE_LIMIT ? verdict : by_status;
    if (finding->status == 503 && has_code && verdict.kind == ERROR_OVERLOADED)
        return verdict;
    if (finding->status == 503 && strcasestr(finding->message, "overloaded"))
        return (struct wire_verdict){ERROR_OVERLOADED, true};
    if (is_plain_status(finding->status))
        return by_status;
    /* "invalid_request_error" is the drawer for everything: the message knows more. */
    struct wire_verdict by_words;
    if ((!has_code || verdict.kind == ERROR_BAD_REQUEST) && verdict_of_words(finding, &by_words))
        return by_words;
    if (has_code && (verdict.kind != ERROR_BAD_REQUEST || !finding->status))
        return verdict;
    return by_status;
}
