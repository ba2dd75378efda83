#include "round_trips/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "memory.h"

/* Receives one whole message. Returns 1, 0 at the end of the stream, or -errno. */
static int take_message(struct inflow *inflow)
{
    char *message = inflow->state;
    size_t got_bytes = 0;
    while (got_bytes < inflow->msg_bytes) {
        const ssize_t n = recv(inflow->fd, message + got_bytes, inflow->msg_bytes - got_bytes, 0);
        count(inflow->counters, COUNT_DATA_CALLS, 1);
        if (n > 0) {
            inflow_take(inflow, message + got_bytes, (size_t)n);
            got_bytes += (size_t)n;
            continue;
        }
        if (n == 0) {
            return got_bytes == 0
                       ? 0
                       : fail(inflow->failure, 0,
                              "connection %zu: the sender closed it in the middle of a message",
                              inflow->connection);
        }
        const int error = inflow_error(inflow, "recv");
        if (error != 0) {
            return error;
        }
    }
    return 1;
}

static int send_back(struct inflow *inflow)
{
    const char *message = inflow->state;
    size_t sent_bytes = 0;
    while (sent_bytes < inflow->msg_bytes) {
        const ssize_t n =
            send(inflow->fd, message + sent_bytes, inflow->msg_bytes - sent_bytes, MSG_NOSIGNAL);
        count(inflow->counters, COUNT_OTHER_CALLS, 1);
        const int error = n < 0 ? inflow_error(inflow, "send") : 0;
        if (error != 0) {
            return error;
        }
        sent_bytes += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int answers_give(struct inflow *inflow)
{
    int more = 1;
    inflow->state = memory_allocate_aligned(inflow->msg_bytes);
    if (inflow->state == NULL) {
        return fail(inflow->failure, ENOMEM, "a message of %zu bytes", inflow->msg_bytes);
    }
    while (more > 0) {
        more = take_message(inflow);
        if (more > 0) {
            const int error = send_back(inflow);
            more = error != 0 ? error : 1;
        }
    }
    free(inflow->state);
    inflow->state = NULL;
    return more;
}
