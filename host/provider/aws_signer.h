/*
 * aws_signer - gives each request to one of Amazon's services the headers that prove who sends it.
 *
 * A signature is good for some minutes, and so may keys be: both are made anew for each attempt.
 * One thread at a time.
 */
#ifndef PROVIDER_AWS_SIGNER_H
#define PROVIDER_AWS_SIGNER_H

#include "base/error.h"
#include "base/text.h"
#include "provider/curl_api.h"

struct aws_signer;

/* Finds keys and region (aws_credentials.h).  NULL with *error, which says what to set where. */
struct aws_signer *aws_signer_new(const char *service, struct error *error);
void aws_signer_free(struct aws_signer *signer); /* NULL is fine */

struct aws_signed_request {
    const char *url; /* without a query, which cannot be signed */
    const char *content_type;
    const struct text *body;
};

/* Appends the headers of a POST.  False with *error: there are no keys any more, or no memory. */
bool aws_signer_add(struct aws_signer *signer, const struct aws_signed_request *request,
                    const struct curl_api *api, struct curl_slist **headers, struct error *error);

#endif
