#include "remote/parcel.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define HEADER      (2 * sizeof(uint32_t))
#define NONE        UINT32_MAX          /* the length of bytes that are not there */
#define READ_MOST   ((size_t)256 << 10) /* a length that is claimed is no reason for memory */
#define PIECE_MAX   ((size_t)64 << 10)  /* what is sent, and can be read, in one go */
#define KEEP_BUFFER ((size_t)1 << 20)
#define SOON_NS     50000
#define VAIN_MAX    6 /* then it looks every 64th time */

/* ---- writing ---- */

void parcel_begin(struct text *out, enum parcel_type type)
{
    text_reset(out);
    parcel_put_u32(out, 0);
    parcel_put_u32(out, (uint32_t)type);
}

void parcel_put_u32(struct text *out, uint32_t value)
{
    text_append(out, &value, sizeof(value));
}

void parcel_put_u64(struct text *out, uint64_t value)
{
    text_append(out, &value, sizeof(value));
}

void parcel_put_i64(struct text *out, int64_t value)
{
    text_append(out, &value, sizeof(value));
}

void parcel_put_double(struct text *out, double value)
{
    text_append(out, &value, sizeof(value));
}

void parcel_put_bytes(struct text *out, const void *data, size_t length)
{
    if (length > PARCEL_MESSAGE_MAX) {
        out->failed = true;
        return;
    }
    parcel_put_u32(out, data ? (uint32_t)length : NONE);
    if (!data)
        return;
    text_append(out, data, length);
    text_putc(out, '\0');
}

void parcel_put_string(struct text *out, const char *string)
{
    parcel_put_bytes(out, string, string ? strlen(string) : 0);
}

void parcel_put_strings(struct text *out, const char *const *strings)
{
    uint32_t count = 0;
    while (strings && strings[count])
        count++;
    parcel_put_u32(out, strings ? count : NONE);
    for (uint32_t i = 0; i < count; i++)
        parcel_put_string(out, strings[i]);
}

/* ---- sending ---- */

/* Waits until it takes more. */
static bool wait_for_room(int fd, int64_t until_ms)
{
    struct pollfd room = {fd, POLLOUT, 0};
    int64_t left_ms = until_ms < 0 ? -1 : until_ms - clock_ms();
    if (until_ms >= 0 && left_ms <= 0) {
        errno = ETIMEDOUT;
        return false;
    }
    return poll(&room, 1, (int)left_ms) >= 0 || errno == EINTR;
}

/* As send(); the descriptors go with it. */
static ssize_t send_with(int fd, const void *data, size_t length, const int *fds, size_t count,
                         int flags)
{
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(PARCEL_FDS_MAX * sizeof(int))];
    } control = {0};
    struct iovec bytes = {(void *)(uintptr_t)data, length};
    struct msghdr header = {.msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
    return sendmsg(fd, &header, flags);
}

bool parcel_send_fds(int fd, struct text *message, const int *fds, size_t count, int timeout_ms)
{
    if (message->failed || message->length > PARCEL_MESSAGE_MAX) {
        errno = message->failed ? ENOMEM : EMSGSIZE;
        return false;
    }
    uint32_t length = (uint32_t)(message->length - HEADER);
    memcpy(message->data, &length, sizeof(length));
    int64_t until_ms = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
    int flags = MSG_NOSIGNAL | (timeout_ms < 0 ? 0 : MSG_DONTWAIT);
    for (size_t done = 0; done < message->length;) {
        const char *data = message->data + done;
        size_t left = message->length - done, piece = left < PIECE_MAX ? left : PIECE_MAX;
        ssize_t sent = count && !done ? send_with(fd, data, piece, fds, count, flags)
                                      : send(fd, data, piece, flags);
        if (sent > 0)
            done += (size_t)sent;
        else if (errno != EINTR && (errno != EAGAIN || !wait_for_room(fd, until_ms)))
            return false;
    }
    return true;
}

bool parcel_send(int fd, struct text *message, int timeout_ms)
{
    return parcel_send_fds(fd, message, NULL, 0, timeout_ms);
}

/* ---- receiving ---- */

void parcel_in_release(struct parcel_in *in)
{
    text_release(&in->buffer);
    in->taken = 0;
}

/* What was looked at makes room. */
static void drop_taken(struct parcel_in *in)
{
    struct text *buffer = &in->buffer;
    if (!in->taken)
        return;
    if (in->taken == buffer->length && buffer->capacity > KEEP_BUFFER) {
        text_release(buffer);
    } else {
        memmove(buffer->data, buffer->data + in->taken, buffer->length - in->taken);
        buffer->length -= in->taken;
    }
    in->taken = 0;
}

/* How long the message is that begins at `taken`, without its header; false: not known yet. */
static bool next_length(const struct parcel_in *in, size_t *length)
{
    uint32_t claimed;
    if (in->buffer.length - in->taken < HEADER)
        return false;
    memcpy(&claimed, in->buffer.data + in->taken, sizeof(claimed));
    *length = claimed;
    return true;
}

static void keep_fds(struct parcel_in *in, struct msghdr *header)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && in->fd_count < PARCEL_FDS_MAX; i++)
            memcpy(&in->fds[in->fd_count++], CMSG_DATA(part) + i * sizeof(int), sizeof(int));
    }
}

static ssize_t receive(int fd, struct parcel_in *in, size_t wanted, int flags)
{
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(PARCEL_FDS_MAX * sizeof(int))];
    } control = {0};
    struct iovec bytes = {in->buffer.data + in->buffer.length, wanted};
    struct msghdr header = {.msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    if (!in->takes_fds)
        return recv(fd, bytes.iov_base, wanted, flags | MSG_TRUNC);
    ssize_t got = recvmsg(fd, &header, flags | MSG_CMSG_CLOEXEC);
    if (got > 0)
        keep_fds(in, &header);
    return got;
}

ssize_t parcel_read(int fd, struct parcel_in *in, int flags)
{
    size_t length, wanted = PIECE_MAX;
    drop_taken(in);
    if (next_length(in, &length) && HEADER + length > in->buffer.length + wanted) {
        wanted = HEADER + length - in->buffer.length;
        wanted = wanted < READ_MOST ? wanted : READ_MOST;
    }
    if (!text_reserve(&in->buffer, wanted)) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t got;
    do {
        got = receive(fd, in, wanted, flags);
    } while (got < 0 && errno == EINTR);
    if (got > (ssize_t)wanted) { /* of a packet, the rest is lost */
        errno = EMSGSIZE;
        return -1;
    }
    if (got > 0)
        in->buffer.length += (size_t)got;
    return got;
}

/* With one processor the other end runs only while this one sleeps. */
static bool has_processors(void)
{
    static atomic_int known; /* 0: not yet */
    int count = atomic_load_explicit(&known, memory_order_relaxed);
    if (!count) {
        cpu_set_t set;
        count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
        atomic_store_explicit(&known, count, memory_order_relaxed);
    }
    return count > 1;
}

ssize_t parcel_read_soon(int fd, struct parcel_in *in)
{
    if (in->skip || !has_processors()) {
        in->skip -= in->skip > 0;
        return parcel_read(fd, in, 0);
    }
    int64_t until_ns = clock_ns() + SOON_NS;
    do {
        ssize_t got = parcel_read(fd, in, MSG_DONTWAIT);
        if (got >= 0 || errno != EAGAIN) {
            in->vain = 0;
            return got;
        }
    } while (clock_ns() < until_ns);
    in->vain += in->vain < VAIN_MAX;
    in->skip = (1U << in->vain) - 1;
    return parcel_read(fd, in, 0);
}

enum parcel_next parcel_next(struct parcel_in *in, struct parcel *message)
{
    size_t length;
    uint32_t type;
    if (!next_length(in, &length))
        return PARCEL_NONE;
    if (length > PARCEL_MESSAGE_MAX)
        return PARCEL_WRONG;
    if (in->buffer.length - in->taken - HEADER < length)
        return PARCEL_NONE;
    const char *start = in->buffer.data + in->taken;
    memcpy(&type, start + sizeof(uint32_t), sizeof(type));
    *message = (struct parcel){
        .type = (enum parcel_type)type, .data = start + HEADER, .left = length};
    in->taken += HEADER + length;
    return PARCEL_NEXT;
}

/* ---- fields ---- */

static void take(struct parcel *message, void *out, size_t size)
{
    memset(out, 0, size);
    message->bad |= message->left < size;
    if (message->bad)
        return;
    memcpy(out, message->data, size);
    message->data += size;
    message->left -= size;
}

uint32_t parcel_u32(struct parcel *message)
{
    uint32_t value;
    take(message, &value, sizeof(value));
    return value;
}

uint64_t parcel_u64(struct parcel *message)
{
    uint64_t value;
    take(message, &value, sizeof(value));
    return value;
}

int64_t parcel_i64(struct parcel *message)
{
    int64_t value;
    take(message, &value, sizeof(value));
    return value;
}

double parcel_double(struct parcel *message)
{
    double value;
    take(message, &value, sizeof(value));
    return value;
}

bool parcel_flag(struct parcel *message)
{
    uint32_t value = parcel_u32(message);
    message->bad |= value > 1;
    return value == 1;
}

const char *parcel_bytes(struct parcel *message, size_t *length)
{
    uint32_t claimed = parcel_u32(message);
    *length = 0;
    if (message->bad || claimed == NONE)
        return NULL;
    message->bad = claimed >= message->left || message->data[claimed] != '\0';
    if (message->bad)
        return NULL;
    const char *bytes = message->data;
    message->data += (size_t)claimed + 1;
    message->left -= (size_t)claimed + 1;
    *length = claimed;
    return bytes;
}

const char *parcel_string(struct parcel *message)
{
    size_t length;
    const char *string = parcel_bytes(message, &length);
    if (!string || strlen(string) == length)
        return string;
    message->bad = true;
    return NULL;
}

const char *parcel_needed(struct parcel *message)
{
    const char *string = parcel_string(message);
    message->bad |= !string;
    return string;
}

bool parcel_ends(const struct parcel *message)
{
    return !message->bad && !message->left;
}
