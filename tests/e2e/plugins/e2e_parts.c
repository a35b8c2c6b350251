/* Tools whose results have parts: files and images, given in every way that there is. */
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One grey pixel. */
static const unsigned char png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
};
#define PNG_BASE64 "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

MORTISE_TOOL(attach, MORTISE_READ_ONLY, "Attach an image and a link.", MORTISE_NO_ARGS);

static mortise_status attach(mortise_call *call, const attach_args *args)
{
    (void)args;
    mortise_attach_uri(call, "application/pdf", "report.pdf", "https://example.org/report.pdf");
    mortise_attach_bytes(call, "image/png", "dot.png", png, sizeof(png));
    return mortise_reply(call, "attached");
}

MORTISE_TOOL(inline_data, MORTISE_READ_ONLY, "Give an image within JSON.", MORTISE_NO_ARGS);

static mortise_status inline_data(mortise_call *call, const inline_data_args *args)
{
    (void)args;
    return mortise_reply_json(
        call, "{\"response\":{\"dots\":1},\"inline_data\":[{\"mime_type\":\"image/png\",\"name\":"
              "\"dot.png\",\"data\":\"" PNG_BASE64 "\"}],\"file_data\":[{\"mimeType\":"
              "\"application/pdf\",\"fileUri\":\"https://example.org/report.pdf\"}]}");
}

MORTISE_TOOL(byte_list, MORTISE_READ_ONLY, "Give an image as a list of bytes.", MORTISE_NO_ARGS);

static mortise_status byte_list(mortise_call *call, const byte_list_args *args)
{
    (void)args;
    char list[8 * sizeof(png)] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof(png); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d", i ? "," : "", png[i]);
    return mortise_reply_json(
        call, "{\"inline_data\":[{\"mime_type\":\"image/png\",\"data\":[%s]}],\"note\":1.50}", list);
}

MORTISE_TOOL(film, MORTISE_READ_ONLY, "Give what no model takes.", MORTISE_NO_ARGS);

static mortise_status film(mortise_call *call, const film_args *args)
{
    (void)args;
    mortise_attach_bytes(call, "video/mp4", "clip.mp4", "moov", 4);
    return mortise_reply(call, "filmed");
}

MORTISE_TOOL(broken, MORTISE_READ_ONLY, "Give an element that cannot be used.", MORTISE_NO_ARGS);

static mortise_status broken(mortise_call *call, const broken_args *args)
{
    (void)args;
    return mortise_reply_json(call, "{\"inline_data\":[{\"mime_type\":\"image/png\",\"data\":\"AA==\"},"
                                    "{\"mime_type\":\"image/png\",\"data\":\"?\"}]}");
}

MORTISE_TOOL(large, MORTISE_READ_ONLY, "Attach many bytes.",
    (integer, bytes, "How many.", required, at_least(1)));

static mortise_status large(mortise_call *call, const large_args *args)
{
    char *data = calloc(1, (size_t)args->bytes);
    if (!data)
        return MORTISE_NO_MEMORY;
    memcpy(data, png, (size_t)args->bytes < sizeof(png) ? (size_t)args->bytes : sizeof(png));
    mortise_status status =
        mortise_attach_bytes(call, "image/png", "large.png", data, (size_t)args->bytes);
    free(data);
    return status == MORTISE_OK ? mortise_reply(call, "taken")
                                : mortise_fail(call, "not taken: %d", (int)status);
}

MORTISE_PLUGIN(.name = "e2e_parts", .version = "1.0.0",
               .tools = MORTISE_TOOLS(attach, inline_data, byte_list, film, broken, large));
