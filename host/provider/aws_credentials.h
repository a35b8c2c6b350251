/*
 * aws_credentials - who signs requests to Amazon's services, and in which region.
 *
 * The environment is asked first, then the two files of Amazon's own tools, in which a profile
 * has keys or names a command that prints them ("credential_process").  What is secret is
 * registered with base/secret.h.  A struct belongs to one thread at a time.
 */
#ifndef PROVIDER_AWS_CREDENTIALS_H
#define PROVIDER_AWS_CREDENTIALS_H

#include <stdbool.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"

/* All zero: none yet. */
struct aws_credentials {
    char *access_key_id;
    char *secret_access_key;
    char *session_token; /* or NULL */
    char *from;          /* "the environment", "profile 'work' of '/home/…/.aws/credentials'" */
    bool lasting;        /* they do not change while this process runs */
    time_t expires;      /* of a command's, unless they are lasting; 0: look again each time */
};

/* Finds them; nothing is done as long as those that were found before are good for some minutes
 * more.  False with *error (kind config), which says what to set where. */
bool aws_credentials_find(struct aws_credentials *credentials, struct error *error);
void aws_credentials_release(struct aws_credentials *credentials);

/* Puts in AWS_REGION, AWS_DEFAULT_REGION or the region of the profile.  It is a part of a host's
 * name: letters, digits and hyphens.  False with *error (kind config). */
bool aws_region_find(struct text *region, struct error *error);

#endif
