#include "provider/wire_turn.h"

#include <string.h>

/* ---- bytes of items ---- */

/* The servers refuse a text that is blank. */
static void put_text(const char *begin, const char *data, size_t length, struct text *out)
{
    if (wire_is_blank(data, length))
        return;
    if (out->length)
        text_putc(out, ',');
    text_puts(out, begin);
    text_json_string(out, data, length);
    text_putc(out, '}');
}

void wire_turn_make_message(const char *begin, const struct item *item, struct text *out)
{
    static const char empty[] = "(empty message)";
    for (size_t i = 0; i < item->part_count; i++)
        put_text(begin, item->parts[i].text.data, item->parts[i].text.length, out);
    if (!out->length && item->role != ROLE_ASSISTANT)
        put_text(begin, empty, strlen(empty), out);
}

void wire_turn_make_system(const char *begin, const struct item *item, struct text *out)
{
    struct text text = TEXT_INIT;
    text_puts(&text, "<system>");
    item_append_text(item, &text);
    text_puts(&text, "</system>");
    put_text(begin, text_cstr(&text), text.length, out);
    if (text.failed)
        out->failed = true;
    text_release(&text);
}

/* ---- messages ---- */

void wire_turn_begin(const struct wire_writer *writer, const struct wire_turn *turn,
                     enum item_role *open, enum item_role role)
{
    struct text *body = writer->body;
    if (role == *open) {
        text_putc(body, ',');
        return;
    }
    if (*open != ROLE_SYSTEM)
        text_puts(body, "]},");
    else if (role == ROLE_ASSISTANT)
        text_printf(body, "%s%s\"(start of the conversation)\"}]},", turn->user, turn->text);
    text_puts(body, role == ROLE_ASSISTANT ? turn->assistant : turn->user);
    *open = role;
}

/* Begins a message before it is known whether anything is to be sent. */
bool wire_turn_put_message(const struct wire_writer *writer, const struct wire_turn *turn,
                           enum item_role *open, size_t index)
{
    struct item *item = writer->request->items[index];
    struct text *body = writer->body;
    enum item_role before = *open;
    size_t start = body->length;
    wire_turn_begin(writer, turn, open, item->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER);
    size_t begun = body->length;
    wire_put_item(writer, item, item->role == ROLE_SYSTEM ? turn->make_system : turn->make_message);
    if (body->length > begun || body->failed)
        return true;
    body->length = start;
    body->data[start] = '\0';
    *open = before;
    return false;
}

void wire_turn_end(const struct wire_writer *writer, const struct wire_turn *turn,
                   enum item_role open)
{
    if (open == ROLE_SYSTEM)
        text_printf(writer->body, "%s%s\"(empty message)\"}", turn->user, turn->text);
    text_puts(writer->body, "]}");
}
