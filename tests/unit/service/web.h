/*
 * web - a server on this machine that answers any number of connections at once, as the path
 * that it is asked for says:
 *
 *     /echo          the request itself, with a header of two kinds
 *     /bytes/N       N bytes
 *     /endless       until nobody reads any more
 *     /silent        nothing, ever
 *     /gzip          "unpacked", packed
 *     /status/N      that status and no body
 *     /heads         headers without an end
 *     /head          one header without an end
 *     /to/URL        a redirect to the URL
 *     /held          the head of a stream, and nothing more
 *     /stream        "one", "two", "three" as chunks, with a pause before each, and a trailer;
 *                    before it "103 Early Hints"
 */
#ifndef TEST_WEB_H
#define TEST_WEB_H

#include <pthread.h>
#include <stdatomic.h>

struct web {
    int listener;
    int port;
    atomic_int connections; /* that were taken so far */
    pthread_t thread;
};

void web_open(struct web *web);
void web_close(struct web *web);

#endif
