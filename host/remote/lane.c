#include "remote/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAKE_MS 5000 /* a process that takes no lane for so long hangs */

void lanes_free(struct lane *lane)
{
    while (lane) {
        struct lane *next = lane->next;
        if (lane->fd >= 0)
            close(lane->fd);
        if (lane->cancel_fd >= 0)
            close(lane->cancel_fd);
        if (lane->end_fd >= 0)
            close(lane->end_fd);
        parcel_in_release(&lane->in);
        text_release(&lane->out);
        free(lane);
        lane = next;
    }
}

static bool connect_lane(struct child *child, struct lane *lane, struct error *error)
{
    int sockets[2];
    struct text message = TEXT_INIT;
    const struct timeval slice = {.tv_usec = LANE_SLICE_MS * 1000};
    lane->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lane->cancel_fd < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return error_set(error, ERROR_PLUGIN, "its process cannot be reached: %s",
                         strerror(errno));
    lane->fd = sockets[0];
    setsockopt(lane->fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice));
    const int fds[] = {sockets[1], lane->cancel_fd};
    parcel_begin(&message, PARCEL_LANE);
    pthread_mutex_lock(&child->lock);
    bool sent = parcel_send_fds(child->control, &message, fds, 2, TAKE_MS);
    int failure = errno;
    pthread_mutex_unlock(&child->lock);
    close(sockets[1]);
    text_release(&message);
    return sent || error_set(error, ERROR_PLUGIN, "its process cannot be reached: %s",
                             strerror(failure));
}

struct lane *lane_take(struct child *child, struct error *error)
{
    pthread_mutex_lock(&child->lock);
    struct lane *lane = child->idle;
    if (lane)
        child->idle = lane->next;
    pthread_mutex_unlock(&child->lock);
    if (lane) {
        lane->next = NULL;
        return lane;
    }
    lane = calloc(1, sizeof(*lane));
    if (!lane) {
        error_memory(error);
        return NULL;
    }
    lane->fd = lane->cancel_fd = lane->end_fd = -1;
    if (connect_lane(child, lane, error))
        return lane;
    lanes_free(lane);
    return NULL;
}

void lane_give_back(struct child *child, struct lane *lane)
{
    pthread_mutex_lock(&child->lock);
    lane->next = child->idle;
    child->idle = lane;
    pthread_mutex_unlock(&child->lock);
}
