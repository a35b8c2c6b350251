/* cmocka and what it needs before it. */
#ifndef TEST_CMOCKA_ALL_H
#define TEST_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A failing test shows the whole text. */
#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" has no \"%s\"", (text), (part));                                      \
    } while (0)

#endif
