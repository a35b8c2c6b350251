/*
 * event_api - libevent's core through a table of functions, loaded on first need.
 *
 * Only a server that listens on the network needs it.  What is made with one of these functions
 * belongs to one thread: libevent is not told of others.
 */
#ifndef MCP_EVENT_API_H
#define MCP_EVENT_API_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "base/error.h"

struct event_api {
    void (*event_set_log_callback)(event_log_cb);
    struct event_base *(*event_base_new)(void);
    int (*event_base_dispatch)(struct event_base *);
    int (*event_base_loopbreak)(struct event_base *);
    void (*event_base_free)(struct event_base *);
    struct event *(*event_new)(struct event_base *, evutil_socket_t, short, event_callback_fn,
                               void *);
    int (*event_add)(struct event *, const struct timeval *);
    int (*event_del)(struct event *);
    void (*event_free)(struct event *);
    struct evconnlistener *(*evconnlistener_new_bind)(struct event_base *, evconnlistener_cb,
                                                      void *, unsigned, int,
                                                      const struct sockaddr *, int);
    void (*evconnlistener_set_error_cb)(struct evconnlistener *, evconnlistener_errorcb);
    evutil_socket_t (*evconnlistener_get_fd)(struct evconnlistener *);
    int (*evconnlistener_enable)(struct evconnlistener *);
    int (*evconnlistener_disable)(struct evconnlistener *);
    void (*evconnlistener_free)(struct evconnlistener *);
    struct bufferevent *(*bufferevent_socket_new)(struct event_base *, evutil_socket_t, int);
    void (*bufferevent_setcb)(struct bufferevent *, bufferevent_data_cb, bufferevent_data_cb,
                              bufferevent_event_cb, void *);
    int (*bufferevent_set_timeouts)(struct bufferevent *, const struct timeval *,
                                    const struct timeval *);
    int (*bufferevent_enable)(struct bufferevent *, short);
    int (*bufferevent_disable)(struct bufferevent *, short);
    struct evbuffer *(*bufferevent_get_input)(struct bufferevent *);
    struct evbuffer *(*bufferevent_get_output)(struct bufferevent *);
    evutil_socket_t (*bufferevent_getfd)(struct bufferevent *);
    void (*bufferevent_free)(struct bufferevent *);
    size_t (*evbuffer_get_length)(const struct evbuffer *);
    size_t (*evbuffer_get_contiguous_space)(const struct evbuffer *);
    unsigned char *(*evbuffer_pullup)(struct evbuffer *, ev_ssize_t);
    int (*evbuffer_drain)(struct evbuffer *, size_t);
    int (*evbuffer_add)(struct evbuffer *, const void *, size_t);
    int (*evbuffer_add_reference)(struct evbuffer *, const void *, size_t, evbuffer_ref_cleanup_cb,
                                  void *);
};

/* NULL with *error (kind config) that names the package to install.  Thread-safe. */
const struct event_api *event_api(struct error *error);

#endif
