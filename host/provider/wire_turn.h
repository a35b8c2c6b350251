/*
 * wire_turn - messages of the formats in which the user and the assistant take turns: neighbours
 * of one role become one message (D13), the user has the first word, no text in them is blank,
 * and what the system says in between is said by the user.
 *
 * Between two calls `*open` is the role of the message that is open; ROLE_SYSTEM: none yet.
 * One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_WIRE_TURN_H
#define PROVIDER_WIRE_TURN_H

#include "provider/wire_write.h"

/* How a format says it. */
struct wire_turn {
    const char *user;      /* begins a message of the user: {"role":"user","parts":[ … */
    const char *assistant; /* … and one of the assistant; "]}" ends both */
    const char *text;      /* begins a text: {"text": ; "}" ends it */
    /* What an item says; for wire_put_item(). */
    void (*make_message)(const struct item *item, struct text *out);
    void (*make_system)(const struct item *item, struct text *out);
};

/* What make_message and make_system do; `begin` is the `text` above.  Nothing comes of an
 * assistant's message without text; a user's says that it has none, because without it two answers
 * would stand together, or none would be asked for. */
void wire_turn_make_message(const char *begin, const struct item *item, struct text *out);
void wire_turn_make_system(const char *begin, const struct item *item, struct text *out);

/* Something of this role comes next. */
void wire_turn_begin(const struct wire_writer *writer, const struct wire_turn *turn,
                     enum item_role *open, enum item_role role);
/* Puts in a message; false: there was nothing to say. */
bool wire_turn_put_message(const struct wire_writer *writer, const struct wire_turn *turn,
                           enum item_role *open, size_t index);
/* Ends the last message; there is at least one. */
void wire_turn_end(const struct wire_writer *writer, const struct wire_turn *turn,
                   enum item_role open);

#endif
