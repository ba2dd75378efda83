/*
 * The control protocol: lines over an inherited Unix stream socket whose other end the orchestrator
 * holds. orchestrator -> both `token HEX16`; sender -> `listening PORT`; both -> `ready`;
 * orchestrator -> both `window START_NS END_NS`; both -> `measured` after its end; orchestrator ->
 * both `stop`; without it they stop by themselves after half the window's length. End of file means
 * that the orchestrator is gone, and everything ends at once.
 *
 * Instead of `window`, there may be turns, which a receiver learns first (`receive 0`):
 * orchestrator -> sender `send LENGTH_NS`; sender -> `sent START_NS STOP_NS BYTES`; orchestrator ->
 * receiver `receive BYTES`; receiver -> `received LOOKS AT_NS BYTES CPU_NS`, where LOOKS says
 * whether it had to wait for some of them; orchestrator -> sender `drain`; sender -> `drained
 * CPU_NS`. Bytes and CPU time are totals since the start of the program. Between turns,
 * orchestrator -> both `begin`, `half` and `end`, the edges of what counts; both -> `begun`,
 * `halved` and `measured`.
 */
#ifndef COPYCOST_CONTROL_H
#define COPYCOST_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "program/options.h"

#define CONTROL_LINE_BYTES 128

struct control {
    int fd;
    size_t used_bytes;
    char line[CONTROL_LINE_BYTES];
};

/* Sends one line; the newline is added. Returns 0 or -errno. */
__attribute__((format(printf, 3, 4))) int
control_say(struct control *control, struct failure *failure, const char *format, ...);

/*
 * Waits until one of the descriptors is ready or the deadline has passed, and watches the
 * orchestrator meanwhile. Returns how many are ready (0: the deadline), -EPIPE if the orchestrator
 * is gone, or another -errno. poll_fds[0] belongs to this function; the caller's own begin at 1.
 */
int control_wait(struct control *control, struct pollfd *poll_fds, size_t n_fds,
                 uint64_t deadline_ns, struct failure *failure);

/* Waits for the `token` line, by which both sides recognise each other. It comes this way because
 * anybody can read the command line of a process. Returns 0, -ETIMEDOUT, -EPROTO, -EPIPE or another
 * -errno. */
int control_read_token(struct control *control, uint64_t deadline_ns, char token[TOKEN_CHARS + 1],
                       struct failure *failure);

/* Waits for a line. Returns 0, -ETIMEDOUT, -EPIPE or another -errno. */
int control_read_line(struct control *control, uint64_t deadline_ns, char line[CONTROL_LINE_BYTES],
                      struct failure *failure);

/* Returns whether a line is `window START_NS END_NS`. */
bool control_parse_window(const char *line, uint64_t *start_ns, uint64_t *end_ns);

/* Returns whether a line is this word and a number. */
bool control_parse(const char *line, const char *word, uint64_t *n);

/* Tells whether the `stop` line has come. Returns 0, or -EPROTO if another line has. */
int control_read_stop(struct control *control, bool *stop, struct failure *failure);

#endif
