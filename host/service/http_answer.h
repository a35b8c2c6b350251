/*
 * http_answer - what comes back for a tool's request, within its limits.
 */
#ifndef SERVICE_HTTP_ANSWER_H
#define SERVICE_HTTP_ANSWER_H

#include "base/text.h"
#include "provider/curl_api.h"
#include "service/caller.h"

/* Why the rest of an answer is not wanted. */
enum http_stop { HTTP_GOES_ON, HTTP_TOO_LARGE, HTTP_HEAD_TOO_LARGE, HTTP_STOPPED, HTTP_NO_MEMORY };

struct http_answer {
    const mortise_http_request *request;
    enum http_stop stop;
    uint32_t status;    /* of the last response whose head began */
    bool is_told;       /* answered() was called */
    size_t body_length; /* what came, also where it was handed on */
    struct text body;
    struct text head; /* "NAME\0VALUE\0…" of the last response */
    size_t header_count;
};

bool http_answer_apply(struct http_answer *answer, const struct curl_api *api, CURL *easy);
/* Everything in memory of the caller's.  `response` is the tool's, as large as its size says. */
mortise_status http_answer_hand_over(const struct http_answer *answer, struct caller *caller,
                                     const struct curl_api *api, CURL *easy,
                                     mortise_http_response *response);
void http_answer_release(struct http_answer *answer);

#endif
