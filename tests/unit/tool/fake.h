/*
 * fake - tools and hooks of the test process itself, registered like those of a plugin.
 *
 *     static const mortise_tool_meta meta = {…};  static const mortise_tool tool = {…, run};
 *     struct registry *registry = fake_registry("fake", tools, hooks);
 */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../schema/fake_shape.h"
#include "plugin/registry.h"
#include "tool/call.h"

#define FAKE_META(tool, bits, ...)                                                                 \
    static const mortise_tool_meta tool##_meta = {                                                 \
        .size = sizeof(mortise_tool_meta), .flags = (bits), .name = #tool, __VA_ARGS__}

/* A tool named like its function: mortise_status NAME(self, call, args). */
#define FAKE_TOOL(tool, bits, ...)                                                                 \
    FAKE_META(tool, bits, __VA_ARGS__);                                                            \
    static const mortise_tool tool##_tool = {                                                      \
        .size = sizeof(mortise_tool), .meta = &tool##_meta, .run = tool}

/* NULL-terminated lists; they, and their registry, live as long as the test. */
struct registry *fake_registry(const mortise_tool *const *tools, const mortise_hooks *const *hooks);

/* With this tool alone, until the next such registry is made. */
struct registry *fake_one(const mortise_tool *tool);

/* tool_call() with a NUL-terminated text and nothing else. */
void fake_call(struct registry *registry, const char *name, const char *arguments,
               struct tool_result *result);
/* The result of such a call, checked and released. */
void assert_answer(struct registry *registry, const char *name, const char *arguments,
                   const char *text);
void assert_failure(struct registry *registry, const char *name, const char *arguments,
                    const char *category, const char *text);

/* printf-style replies of fake tools. */
mortise_status fake_reply(mortise_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
mortise_status fake_fail(mortise_call *call, mortise_category category, const char *component,
                         const char *code, const char *message);

#endif
