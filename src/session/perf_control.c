#include "session/perf_control.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "program/options.h"

#define COMMAND_BYTES 16
#define ACK "ack"

/*
 * Reads one line. perf 5.x and 6.x also send the string's terminator ("ack\n\0"), which may arrive
 * before the next answer: zero bytes are skipped.
 */
static int read_line(int fd, uint64_t deadline_ns, char *line, size_t line_bytes,
                     struct failure *failure)
{
    size_t used = 0;
    while (used + 1 < line_bytes) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        const struct timespec left = clock_left_until(deadline_ns);
        const int n_ready = ppoll(&poll_fd, 1, &left, NULL);
        if (n_ready == 0) {
            return fail(failure, ETIMEDOUT, "perf: waiting for its answer on fd %d", fd);
        }
        if (n_ready < 0 && errno != EINTR) {
            return fail(failure, errno, "perf: ppoll on fd %d", fd);
        }
        if (n_ready < 0) {
            continue;
        }
        char byte = '\0';
        const ssize_t n = read(fd, &byte, 1);
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            return fail(failure, errno, "perf: read on fd %d", fd);
        }
        if (n == 0) {
            return fail(failure, EPIPE, "perf: read on fd %d", fd);
        }
        if (n == 1 && byte == '\n') {
            line[used] = '\0';
            return 0;
        }
        if (n == 1 && byte != '\0') {
            line[used++] = byte;
        }
    }
    return fail(failure, EMSGSIZE, "perf: answer on fd %d", fd);
}

int perf_command(const struct perf_control *perf, const char *command, uint64_t timeout_ns,
                 struct failure *failure)
{
    char line[COMMAND_BYTES];
    if (perf->control_fd == NO_FD) {
        return 0;
    }
    const int length = snprintf(line, sizeof(line), "%s\n", command);
    /* Shorter than PIPE_BUF, so that it is written whole or not at all (pipe(7)). */
    if (write(perf->control_fd, line, (size_t)length) != length) {
        return fail(failure, errno, "perf: write '%s' on fd %d", command, perf->control_fd);
    }
    const int error =
        read_line(perf->ack_fd, clock_now_ns() + timeout_ns, line, sizeof(line), failure);
    if (error != 0) {
        return error;
    }
    if (strcmp(line, ACK) != 0) {
        return fail(failure, 0, "perf: answered '%s' to '%s'", line, command);
    }
    return 0;
}
