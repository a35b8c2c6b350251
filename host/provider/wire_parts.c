#include "provider/wire_parts.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/part.h"
#include "base/utf8.h"
#include "conversation/item_view.h"
#include "provider/image.h"

/* More of a file than this is no part of a conversation. */
#define TEXT_MAX ((size_t)64 << 10)

/* ---- what it is ---- */

static bool is_type(const char *mime_type, const char *type)
{
    size_t length = strcspn(mime_type, "; ");
    return length == strlen(type) && strncasecmp(mime_type, type, length) == 0;
}

static bool starts_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

static bool is_text_type(const char *mime_type)
{
    static const char *const types[] = {"application/json", "application/xml",
                                        "application/yaml", "application/x-yaml",
                                        "application/toml", "image/svg+xml"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (is_type(mime_type, types[i]))
            return true;
    return starts_with(mime_type, "text/");
}

static bool is_web(const char *uri)
{
    return uri && (starts_with(uri, "https://") || starts_with(uri, "http://"));
}

/* ---- what becomes of it ---- */

static struct part_choice unsent(const char *why)
{
    return (struct part_choice){.form = PART_UNSENT, .why = why};
}

static struct part_choice choose_text(const struct attachment *part)
{
    const struct bytes *data = &part->data;
    if (!data->data)
        return unsent(NULL);
    if (data->length > TEXT_MAX)
        return unsent("a text may have 65.5 kB");
    if (utf8_valid(data->data, data->length) < data->length ||
        memchr(data->data, '\0', data->length))
        return unsent("it is not UTF-8");
    return wire_is_blank(data->data, data->length) ? unsent("it is empty")
                                                   : (struct part_choice){.form = PART_TEXT};
}

/* The side that an image may have beside those that are there. */
static uint32_t side_limit(const struct part_rules *rules, const struct part_load *load)
{
    bool many = rules->many_images && load->images >= rules->many_images;
    return many ? rules->many_side : rules->image_side;
}

static struct part_choice choose_image(const struct part_rules *rules, const struct part_load *load,
                                       const struct attachment *part, struct image *image)
{
    if (!part->data.data)
        return rules->takes & PART_TAKES_IMAGE_AT && is_web(part->uri)
                   ? (struct part_choice){.form = PART_IMAGE_AT}
                   : unsent(NULL);
    if (!image_look(image, part->data.data, part->data.length))
        return unsent("it is no JPEG, PNG, GIF or WebP");
    if (rules->image_bytes && part->data.length > rules->image_bytes)
        return unsent("it is larger than the model takes");
    if (rules->no_gif && strcmp(image->mime_type, "image/gif") == 0)
        return unsent("the model takes no GIF");
    uint32_t side = side_limit(rules, load);
    if (side && (image->width > side || image->height > side))
        return unsent("it has more pixels than the model takes");
    return (struct part_choice){.form = PART_IMAGE_BYTES, .mime_type = image->mime_type};
}

static struct part_choice choose_pdf(const struct part_rules *rules, const struct attachment *part)
{
    if (!part->data.data)
        return rules->takes & PART_TAKES_PDF_AT && is_web(part->uri)
                   ? (struct part_choice){.form = PART_PDF_AT}
                   : unsent(NULL);
    if (part->data.length < 5 || memcmp(part->data.data, "%PDF-", 5) != 0)
        return unsent("it is no PDF");
    return (struct part_choice){.form = PART_PDF_BYTES, .mime_type = "application/pdf"};
}

static struct part_choice choose_kind(const struct part_rules *rules, const struct item *item,
                                      const struct part_load *load, const struct attachment *part,
                                      struct image *image)
{
    const char *type = part->mime_type;
    if (is_text_type(type))
        return choose_text(part);
    bool is_image = starts_with(type, "image/") && rules->takes & PART_TAKES_IMAGE;
    bool is_pdf = is_type(type, "application/pdf") && rules->takes & PART_TAKES_PDF;
    if (!is_image && !is_pdf)
        return unsent(NULL);
    if (item->is_error && rules->errors_are_text)
        return unsent("with an error only text is taken");
    return is_image ? choose_image(rules, load, part, image) : choose_pdf(rules, part);
}

/* Decides, and adds what is sent to the load. */
static struct part_choice choose(const struct part_rules *rules, const struct item *item,
                                 struct part_load *load, const struct attachment *part)
{
    struct image image = {0};
    struct part_choice choice = choose_kind(rules, item, load, part, &image);
    bool is_image = choice.form == PART_IMAGE_BYTES || choice.form == PART_IMAGE_AT;
    if (choice.form == PART_UNSENT)
        return choice;
    unsigned most = load->has_large ? rules->many_images : rules->images;
    if (is_image && most && load->images >= most)
        return unsent("the conversation has as many images as the model takes");
    if (rules->total_bytes && part->data.length > rules->total_bytes - load->bytes)
        return unsent("the conversation has as many bytes of parts as a request takes");
    load->images += is_image;
    load->bytes += part->data.length;
    load->has_large |= is_image && rules->many_side &&
                       (image.width > rules->many_side || image.height > rules->many_side);
    return choice;
}

/* ---- of one item, behind others ---- */

static const struct part_rules nothing;

static const struct part_rules *rules_of(const struct wire_writer *writer)
{
    return writer->request->parts ? writer->request->parts : &nothing;
}

static void add_item(const struct part_rules *rules, const struct item *item,
                     struct part_load *load)
{
    for (size_t i = 0; i < item->attachment_count; i++)
        choose(rules, item, load, &item->attachments[i]);
}

/* The load when item `index` is written.  Items come in order, but for results that do not stand
 * behind their calls. */
static struct part_load load_before(const struct wire_writer *writer, size_t index)
{
    struct part_load *load = writer->load;
    if (load->next > index)
        *load = (struct part_load){0};
    for (; load->next < index; load->next++)
        add_item(rules_of(writer), writer->request->items[load->next], load);
    return *load;
}

void wire_each_part(const struct wire_writer *writer, size_t index,
                    void (*put)(void *data, const struct attachment *part,
                                const struct part_choice *choice),
                    void *data)
{
    const struct item *item = writer->request->items[index];
    struct part_load load = load_before(writer, index);
    for (size_t i = 0; i < item->attachment_count; i++) {
        struct part_choice choice = choose(rules_of(writer), item, &load, &item->attachments[i]);
        if (choice.form != PART_UNSENT)
            put(data, &item->attachments[i], &choice);
    }
}

/* Appends "2 parts not sent: …, …"; nothing when all are sent. */
static void put_unsent(const struct part_rules *rules, const struct item *item,
                       struct part_load load, struct text *out)
{
    struct text list = TEXT_INIT;
    size_t count = 0;
    for (size_t i = 0; i < item->attachment_count; i++) {
        struct part_choice choice = choose(rules, item, &load, &item->attachments[i]);
        if (choice.form != PART_UNSENT)
            continue;
        text_puts(&list, count++ ? "; " : "");
        attachment_describe(&item->attachments[i], &list);
        if (choice.why)
            text_printf(&list, " (%s)", choice.why);
    }
    if (count)
        text_printf(out, "%zu part%s not sent: ", count, count == 1 ? "" : "s");
    text_append(out, list.data, list.length);
    out->failed |= list.failed;
    text_release(&list);
}

void wire_put_unsent(const struct wire_writer *writer, size_t index, struct text *out)
{
    struct text line = TEXT_INIT;
    put_unsent(rules_of(writer), writer->request->items[index], load_before(writer, index), &line);
    if (line.length)
        text_printf(out, "[%s]", text_cstr(&line));
    out->failed |= line.failed;
    text_release(&line);
}

void client_unsent(const struct client *client, struct item *const *items, size_t index,
                   struct text *out)
{
    struct part_load load = {0};
    for (size_t i = 0; i < index && items[index]->attachment_count; i++)
        add_item(&client->parts, items[i], &load);
    put_unsent(&client->parts, items[index], load, out);
}

/* ---- forms that several formats share ---- */

void wire_put_data(struct text *out, const struct attachment *part)
{
    base64_append(out, part->data.data, part->data.length);
}

void wire_put_data_url(struct text *out, const char *mime_type, const struct attachment *part)
{
    text_printf(out, "\"data:%s;base64,", mime_type);
    wire_put_data(out, part);
    text_putc(out, '"');
}

void wire_put_text_part(struct text *out, const struct attachment *part)
{
    text_puts(out, out->length ? "\n[part " : "[part ");
    if (part->name)
        text_printf(out, "'%s', ", part->name);
    text_printf(out, "%s]\n", part->mime_type);
    text_append(out, part->data.data, part->data.length);
}

/* ---- which model takes what ---- */

/* The first pattern that fits decides; one that begins with '!' says no. */
static bool is_seeing(const char *const *patterns, const char *model)
{
    for (; patterns && *patterns; patterns++) {
        bool no = **patterns == '!';
        if (fnmatch(*patterns + no, model, 0) == 0)
            return !no;
    }
    return false;
}

struct part_rules profile_part_rules(const struct profile *profile, const char *model,
                                     enum images_choice images)
{
    struct part_rules rules = {0};
    if (!profile->wire)
        return rules;
    rules = profile->wire->parts;
    bool takes =
        images == IMAGES_ON || (images == IMAGES_AUTO && is_seeing(profile->seeing, model));
    rules.takes = takes ? profile->takes : 0;
    if (images == IMAGES_ON)
        rules.takes |= profile->takes_if_told;
    return rules;
}
