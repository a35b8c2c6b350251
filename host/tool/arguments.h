/*
 * arguments - the text that a model wrote as a call's arguments, read with care (D9).
 *
 * Empty is {}.  Lossless repairs, each named: a fence around the whole text, an object
 * that was encoded twice, a bare closing tag behind the object, the same object sent twice.
 * Anything else is an error that quotes the place; nothing is ever guessed.
 */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

/* The object as text: the model's own bytes where they can stand as they are.  Appended to
 * `out`.  False with *error written for the model ("the arguments are not valid JSON: …"). */
bool arguments_repair(const char *raw, size_t length, struct text *out, struct error *error);

#endif
