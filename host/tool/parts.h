/*
 * parts - the files and images that go with a result (F67-F75).
 *
 * A tool gives them with attach(), or in a JSON result: the lists "inline_data" (bytes) and
 * "file_data" (where they are) of its object.  Both end up as attachments of the tool_result,
 * those with bytes first.  What cannot be used is an error that says so: nothing is lost without
 * a word, and nothing is cut.
 */
#ifndef TOOL_PARTS_H
#define TOOL_PARTS_H

#include "tool/call.h"

#define PART_BYTES_MAX        ((size_t)10 << 20) /* F74 */
#define PART_URI_MAX          ((size_t)8192)
#define PART_NAME_MAX         ((size_t)255) /* longer names are cut: they are for people */
#define RESULT_PARTS_MAX      20
#define RESULT_PART_BYTES_MAX ((size_t)32 << 20) /* of all parts of a result */

/* Adds a copy.  False with *error: it breaks a limit, has no usable type or neither bytes nor a
 * URI (kind bad_request), or there is no memory (kind internal). */
bool parts_attach(struct tool_result *result, const mortise_attachment *from, struct error *error);

/* Adds a part; `name` may be NULL.  Takes over `data`, also when it fails; NULL: `uri` says where
 * it is.  Errors as above. */
bool parts_add(struct tool_result *result, const char *mime_type, const char *name,
               struct bytes data, const char *uri, struct error *error);

/* Takes result->text apart, a valid JSON text, if it is an object with parts: then the text
 * becomes its member "response", or else what remains, and is_json what that is.  The text of
 * any other result stays as it is, to the byte.  Errors as above, naming list and index. */
bool parts_take_json(struct tool_result *result, struct error *error);

/* Those with bytes before those with a URI (F70), else in the order in which they came. */
void parts_order(struct tool_result *result);

#endif
