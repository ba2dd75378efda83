#include "session/control.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"

int control_say(struct control *control, struct failure *failure, const char *format, ...)
{
    char line[CONTROL_LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof(line) - 1) {
        return fail(failure, EMSGSIZE, "control: line '%s'", format);
    }
    line[length] = '\n';
    const size_t n_bytes = (size_t)length + 1;
    size_t sent_bytes = 0;
    while (sent_bytes < n_bytes) {
        const ssize_t n = send(control->fd, line + sent_bytes, n_bytes - sent_bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return fail(failure, errno, "control: send on fd %d", control->fd);
        }
        sent_bytes += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Reads what has arrived into the line buffer. */
static int control_receive(struct control *control, struct failure *failure)
{
    const size_t room_bytes = sizeof(control->line) - 1 - control->used_bytes;
    if (room_bytes == 0) {
        return fail(failure, 0, "control: a line of more than %zu bytes", control->used_bytes);
    }
    const ssize_t n =
        recv(control->fd, control->line + control->used_bytes, room_bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (n < 0 && errno != ECONNRESET) { /* it closed without reading what we sent */
        return fail(failure, errno, "control: recv on fd %d", control->fd);
    }
    if (n <= 0) {
        (void)fail(failure, 0, "control: the orchestrator is gone (end of file on fd %d)",
                   control->fd);
        return -EPIPE;
    }
    control->used_bytes += (size_t)n;
    control->line[control->used_bytes] = '\0';
    return 0;
}

int control_wait(struct control *control, struct pollfd *poll_fds, size_t n_fds,
                 uint64_t deadline_ns, struct failure *failure)
{
    poll_fds[0] = (struct pollfd){.fd = control->fd, .events = POLLIN};
    const struct timespec left = clock_left_until(deadline_ns);
    const int n_ready = ppoll(poll_fds, (nfds_t)n_fds, &left, NULL);
    if (n_ready < 0) {
        return errno == EINTR ? 0 : fail(failure, errno, "control: ppoll");
    }
    if (poll_fds[0].revents != 0) {
        const int error = control_receive(control, failure);
        if (error != 0) {
            return error;
        }
    }
    return n_ready;
}

/* Reads one number and the character that must follow it. */
static bool parse_number(const char **text, char follower, uint64_t *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**text)) {
        return false; /* strtoull would take signs and blanks */
    }
    errno = 0;
    *value = strtoull(*text, &end, 10);
    if (errno != 0 || *end != follower) {
        return false;
    }
    *text = end + 1;
    return true;
}

static bool parse_token(const char *line, char token[TOKEN_CHARS + 1])
{
    static const char WORD[] = "token ";
    const char *text = line + sizeof(WORD) - 1;
    if (strncmp(line, WORD, sizeof(WORD) - 1) != 0 || strlen(text) != TOKEN_CHARS ||
        strspn(text, "0123456789abcdefABCDEF") != TOKEN_CHARS) {
        return false;
    }
    memcpy(token, text, TOKEN_CHARS + 1);
    return true;
}

bool control_parse(const char *line, const char *word, uint64_t *n)
{
    const size_t n_chars = strlen(word);
    const char *text = line + n_chars + 1;
    return strncmp(line, word, n_chars) == 0 && line[n_chars] == ' ' &&
           parse_number(&text, '\0', n);
}

bool control_parse_window(const char *line, uint64_t *start_ns, uint64_t *end_ns)
{
    static const char WORD[] = "window ";
    const char *text = line + sizeof(WORD) - 1;
    return strncmp(line, WORD, sizeof(WORD) - 1) == 0 && parse_number(&text, ' ', start_ns) &&
           parse_number(&text, '\0', end_ns) && *start_ns < *end_ns;
}

/* Waits for a line, which should begin with `word`, and takes it; later ones stay. */
static int take_line(struct control *control, const char *word, uint64_t deadline_ns,
                     char line[CONTROL_LINE_BYTES], struct failure *failure)
{
    const char *end = NULL;
    while ((end = memchr(control->line, '\n', control->used_bytes)) == NULL) {
        struct pollfd poll_fd[1];
        if (clock_now_ns() >= deadline_ns) {
            return fail(failure, ETIMEDOUT, "control: waiting for the %s line", word);
        }
        const int n_ready = control_wait(control, poll_fd, 1, deadline_ns, failure);
        if (n_ready < 0) {
            return n_ready;
        }
    }
    const size_t n_bytes = (size_t)(end - control->line);
    memcpy(line, control->line, n_bytes);
    line[n_bytes] = '\0';
    control->used_bytes -= n_bytes + 1;
    memmove(control->line, end + 1, control->used_bytes + 1);
    return 0;
}

int control_read_token(struct control *control, uint64_t deadline_ns, char token[TOKEN_CHARS + 1],
                       struct failure *failure)
{
    char line[CONTROL_LINE_BYTES] = "";
    const int error = take_line(control, "token", deadline_ns, line, failure);
    if (error == 0 && !parse_token(line, token)) {
        return fail(failure, 0, "control: got '%s', expected 'token HEX%d'", line, TOKEN_CHARS);
    }
    return error;
}

int control_read_line(struct control *control, uint64_t deadline_ns, char line[CONTROL_LINE_BYTES],
                      struct failure *failure)
{
    return take_line(control, "next", deadline_ns, line, failure);
}

int control_read_stop(struct control *control, bool *stop, struct failure *failure)
{
    *stop = memchr(control->line, '\n', control->used_bytes) != NULL;
    if (*stop && strcmp(control->line, "stop\n") != 0) {
        control->line[strcspn(control->line, "\n")] = '\0';
        return fail(failure, 0, "control: got '%s', expected 'stop'", control->line);
    }
    return 0;
}
