/*
 * sendfile: sendfile(2) from an in-memory file (memfd_create(2)) that holds the message.
 *
 * Copies: 0, none by the link either, while the message stays the same; 1 to write a new one
 * System calls: 1 sendfile(2); ftruncate(2) and pwritev(2) before it if the message changes
 * Linux: 3.17; 6.5 for UDP
 *
 * Path of the bytes: sendfile puts references to the file's pages in the page cache into socket
 * buffers: no copy by the CPU before the device and, as with splice, none on loopback and veth
 * either. The pages belong to the file; a write to it while they are in flight changes what arrives
 * (splice/pages.h).
 *
 * This suits an application whose data is already in a file. The file is written once, before any
 * traffic, with all messages of the ring one after another; gathering the fields into it is not
 * measured. An application whose messages change has to write each one to the file first: under
 * --fresh and --verify the file is emptied, which gives up the pages in flight without touching
 * them, the fields are written to new ones (pwritev(2): one copy by the CPU), and the file is sent.
 * That is one copy, as with one_copy, and two more system calls.
 *
 * From a memfd to TCP since Linux 3.17; over UDP the whole datagram goes without a copy since 6.5
 * (MSG_SPLICE_PAGES). sendfile(2), memfd_create(2).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory.h"
#include "send_message.h"
#include "strategy.h"

struct sendfile_state {
    int file_fd;
    size_t stride_bytes; /* from one message to the next */
    uint32_t n_messages;
    uint32_t next;
    off_t write_offset; /* where write_once continues */
};

static int sendfile_probe(struct failure *failure)
{
    const int fd = memfd_create("copycost", MFD_CLOEXEC);
    if (fd < 0) {
        return fail(failure, errno, "sendfile: memfd_create; it needs Linux 3.17");
    }
    return close(fd) == 0 ? 0 : fail(failure, errno, "sendfile: close of fd %d", fd);
}

/* Writes iovecs to the file; called by send_rest. */
static ssize_t write_once(struct stream *stream, struct iovec *iov, size_t n_iov)
{
    struct sendfile_state *state = stream->state;
    const ssize_t n = pwritev(state->file_fd, iov, (int)n_iov, state->write_offset);
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    if (n < 0) {
        if (errno == EINTR) {
            count(stream->counters, COUNT_EINTR, 1);
            return 0;
        }
        return fail(stream->failure, errno, "sendfile: pwritev of %zu bytes into a memfd",
                    stream->msg_bytes);
    }
    state->write_offset += n;
    return n;
}

static int write_message(struct stream *stream, const struct message *message, off_t offset)
{
    struct sendfile_state *state = stream->state;
    state->write_offset = offset;
    return send_rest(stream, message, 0, write_once);
}

/* Messages of a page or more begin at a page, as fields do elsewhere. */
static size_t choose_stride(size_t msg_bytes)
{
    return msg_bytes < memory_page_bytes() ? msg_bytes : memory_whole_pages(msg_bytes);
}

static int sendfile_setup(struct stream *stream)
{
    struct sendfile_state *state = stream->state;
    int error = 0;
    state->stride_bytes = choose_stride(stream->msg_bytes);
    state->file_fd = memfd_create("copycost", MFD_CLOEXEC);
    if (state->file_fd < 0) {
        return fail(stream->failure, errno, "sendfile: memfd_create");
    }
    if (stream->contents_change) {
        return 0; /* each message is written before it is sent */
    }
    state->n_messages = stream->ring.n_slots;
    for (uint32_t i = 0; error == 0 && i < state->n_messages; i++) {
        error = write_message(stream, next_message(stream), (off_t)(i * state->stride_bytes));
    }
    return error;
}

/* Replaces the file's contents, in new pages. */
static int renew_file(struct stream *stream)
{
    const struct sendfile_state *state = stream->state;
    const struct message *message = next_message(stream);
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    if (ftruncate(state->file_fd, 0) != 0) {
        return fail(stream->failure, errno, "sendfile: ftruncate of a memfd");
    }
    return write_message(stream, message, 0);
}

/* The file offset of the next message. */
static off_t next_offset(struct sendfile_state *state)
{
    const off_t offset = (off_t)(state->next * state->stride_bytes);
    state->next = state->next + 1 >= state->n_messages ? 0 : state->next + 1;
    return offset;
}

static int sendfile_send_messages(struct stream *stream)
{
    struct sendfile_state *state = stream->state;
    size_t left_bytes = stream->msg_bytes;
    const int error = stream->contents_change ? renew_file(stream) : 0;
    if (error != 0) {
        return error;
    }
    off_t offset = next_offset(state);
    while (left_bytes > 0) {
        const ssize_t n = sendfile(stream->fd, state->file_fd, &offset, left_bytes);
        const ssize_t n_taken = count_sent(stream, n, "sendfile");
        if (n_taken < 0) {
            return (int)n_taken;
        }
        if (n == 0) {
            return fail(stream->failure, 0, "sendfile: the file is %zu bytes too short",
                        left_bytes);
        }
        left_bytes -= (size_t)n_taken;
        if (n > 0 && left_bytes > 0 && stream->transport == TRANSPORT_DATAGRAM) {
            return fail(stream->failure, EMSGSIZE,
                        "sendfile: took %zd of %zu bytes, but a datagram must go whole", n,
                        stream->msg_bytes);
        }
        count(stream->counters, COUNT_SHORT_WRITES, n > 0 && left_bytes > 0 ? 1 : 0);
    }
    return 0;
}

static void sendfile_teardown(struct stream *stream)
{
    const struct sendfile_state *state = stream->state;
    if (state->file_fd >= 0) {
        (void)close(state->file_fd); /* nobody will read the file: nothing to check */
    }
}

const struct strategy the_strategy = {
    .name = "sendfile",
    .summary = "sendfile from an in-memory file that holds the message",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .state_bytes = sizeof(struct sendfile_state),
    .probe = sendfile_probe,
    .setup = sendfile_setup,
    .send_messages = sendfile_send_messages,
    .teardown = sendfile_teardown,
};
