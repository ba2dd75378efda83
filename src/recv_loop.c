#include "recv_loop.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

/* Classifies a datagram. Returns 1, 0 for a goodbye, or -errno. */
static int take_datagram(struct inflow *inflow, const void *memory, size_t n_bytes)
{
    switch (inflow_take_datagram(inflow, memory, n_bytes)) {
    case ARRIVAL_MESSAGE:
    case ARRIVAL_WELCOME:
        return 1;
    case ARRIVAL_GOODBYE:
        return 0;
    case ARRIVAL_WRONG:
        break;
    }
    return -EPROTO;
}

int recv_loop(struct inflow *inflow, const struct recv_call *call)
{
    const bool is_stream = inflow->transport == TRANSPORT_STREAM;
    int more = 1;
    while (more > 0) {
        /* With MSG_TRUNC it returns the length of the datagram, not how much of it was copied. */
        const ssize_t n = recv(inflow->fd, call->memory, call->n_bytes, call->flags);
        count(inflow->counters, COUNT_DATA_CALLS, 1);
        if (n < 0) {
            const int error = inflow_error(inflow, call->name);
            more = error != 0 ? error : 1;
        } else if (!is_stream) {
            more = take_datagram(inflow, call->memory, (size_t)n);
        } else {
            inflow_take(inflow, call->memory, (size_t)n);
            more = n > 0 ? 1 : 0;
        }
    }
    return more;
}
