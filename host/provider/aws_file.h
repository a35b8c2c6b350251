/*
 * aws_file - the two files in which Amazon's tools keep what belongs to a profile.
 *
 * ~/.aws/credentials has its keys in a section [NAME], ~/.aws/config the rest in [profile NAME];
 * [default] is called so in both.  Sections may come in pieces, and a later value wins.  Lines
 * that are indented belong to a value with parts of its own, and are passed over.
 */
#ifndef PROVIDER_AWS_FILE_H
#define PROVIDER_AWS_FILE_H

#include "base/error.h"
#include "base/text.h"

enum aws_file_kind { AWS_FILE_CREDENTIALS, AWS_FILE_CONFIG };

struct aws_file {
    enum aws_file_kind kind;
    struct text path;
    struct text bytes; /* wiped when it is released */
};

/* Which profile is meant: by AWS_PROFILE or AWS_DEFAULT_PROFILE, else "default". */
const char *aws_profile_name(void);

/* Reads the file that AWS_SHARED_CREDENTIALS_FILE or AWS_CONFIG_FILE names, else the one below
 * HOME.  One that is not there is empty.  False with *error (kind config): it cannot be read, or
 * anyone may write to it. */
bool aws_file_read(struct aws_file *file, enum aws_file_kind kind, struct error *error);
void aws_file_release(struct aws_file *file);

bool aws_file_has_profile(const struct aws_file *file, const char *profile);
/* Puts the value of `key` into `value`; false when it has none, or an empty one, or there is no
 * memory (value->failed). */
bool aws_file_value(const struct aws_file *file, const char *profile, const char *key,
                    struct text *value);

#endif
