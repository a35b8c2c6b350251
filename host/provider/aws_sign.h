/*
 * aws_sign - Signature Version 4: how a request to Amazon's services proves who sends it.
 *
 * Signed are the method, the path, the body and the headers Host, Content-Type, X-Amz-Date and
 * X-Amz-Security-Token, which must be sent as they are told here.  There is no query.  (libcurl
 * can sign as well, but up to 8.x it takes the path as it is sent, where every service but S3
 * encodes it once more: no model with a ':' in its name could be asked.)  Thread-safe.
 */
#ifndef PROVIDER_AWS_SIGN_H
#define PROVIDER_AWS_SIGN_H

#include <stdbool.h>
#include <time.h>

#include "base/text.h"

#define AWS_DATE_SIZE sizeof("20150830T123600Z")

struct aws_signing {
    const char *access_key_id;
    const char *secret_access_key;
    const char *session_token; /* or NULL */
    const char *region;
    const char *service;
    time_t time; /* a server refuses what is not within five minutes of its own clock */

    const char *method;
    const char *host;
    const char *path;
    const char *content_type; /* NULL: there is no such header */
    const char *body;
    size_t body_length;
};

/* Writes the value of X-Amz-Date, and appends that of Authorization.  False: no memory, or a time
 * that no date can tell. */
bool aws_sign(const struct aws_signing *signing, char date[AWS_DATE_SIZE],
              struct text *authorization);

#endif
