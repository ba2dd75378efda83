/*
 * Connections over UDP. The receiver says hello from one socket per connection until the sender,
 * which connects a socket to each, welcomes it. At the end the sender says goodbye until the
 * receiver answers. Hello and goodbye may be lost like any datagram, so they are repeated. Messages
 * are not, nor is a welcome once the sender has continued: the receiver then gives up after its
 * timeout.
 */
#ifndef COPYCOST_DATAGRAM_H
#define COPYCOST_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connections/unknown_peers.h"
#include "failure.h"
#include "program/options.h"
#include "session/control.h"

/* The kinds of datagrams that are not messages. */
enum note { NOTE_HELLO, NOTE_WELCOME, NOTE_GOODBYE };

#define NOTE_BYTES 32

/*
 * For the sender: waits until options->n_threads sockets of the receiver have said hello to the
 * bound socket `fd`, and stores a socket connected to each at its index in fds (which holds NO_FD
 * before; the caller closes them even after an error).
 */
int datagram_welcome_all(int fd, const struct options *options, struct control *control,
                         note_function report, int *fds, struct failure *failure);

/* For the receiver: says hello on a connected socket until it is welcomed. */
int datagram_say_hello(int fd, const struct options *options, size_t index, struct control *control,
                       struct failure *failure);

/* For the sender: says goodbye until the receiver has answered, or has heard it and gone. */
int datagram_say_goodbye(int fd, const struct options *options, size_t index,
                         struct failure *failure);

/* For the receiver: answers a goodbye. */
int datagram_answer_goodbye(int fd, const char *token, size_t index, struct failure *failure);

/* Whether NOTE_BYTES bytes are this kind of note of this measurement. */
bool datagram_is_note(const void *memory, enum note which, const char *token, size_t index);

#endif
