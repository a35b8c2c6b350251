/* banned - functions that do not compile here; included by the build into every host file. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Macros in some C libraries. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets strncpy atoi atol

#endif
