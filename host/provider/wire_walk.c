#include "provider/wire_walk.h"

/* The assistant's items of [from, to). */
static void put_run(const struct wire_writer *writer, const struct wire_walk *walk, void *self,
                    size_t from, size_t to)
{
    for (size_t i = from; i < to;) {
        const struct item *item = writer->request->items[i];
        size_t count = wire_verbatim_count(writer, i, to);
        if (count) {
            walk->verbatim(self, i, count);
            i += count;
            continue;
        }
        if (item->kind == ITEM_CALL)
            walk->call(self, i);
        else if (item->kind == ITEM_MESSAGE)
            walk->message(self, i);
        i++;
    }
}

/* Where an item begins that is no part of a run before it, all before it is settled: its calls
 * have their results. */
void wire_walk(const struct wire_writer *writer, struct wire_place *place,
               const struct wire_walk *walk, void *self)
{
    const struct request *request = writer->request;
    for (size_t i = place->next; i < request->item_count;) {
        place->next = i;
        place->state = walk->state(self);
        place->offset = writer->body->length;
        size_t run_end = wire_run_end(request, i);
        if (run_end > i) {
            put_run(writer, walk, self, i, run_end);
            walk->outputs(self, i, run_end);
            i = run_end;
            continue;
        }
        if (request->items[i]->kind == ITEM_MESSAGE) /* results stand behind their calls */
            walk->message(self, i);
        i++;
    }
}

void wire_each_output(const struct request *request, size_t from, size_t to, size_t place,
                      void (*put)(void *data, const struct item *call, size_t output), void *data)
{
    for (size_t i = from; i < to; i++) {
        const struct item *call = request->items[i];
        if (call->kind != ITEM_CALL)
            continue;
        size_t output = wire_find_output(request, call, place++);
        if (output < request->item_count)
            put(data, call, output);
    }
}
