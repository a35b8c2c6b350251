/* environment - the variables of this process. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

/* The value; NULL: it is not set, or empty, which is the same for all that the host reads so. */
const char *environment_get(const char *name);

#endif
