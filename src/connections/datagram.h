/*
 * Connections over UDP. The receiver says hello from one socket per connection until the sender,
 * which connects a socket of its own to each, welcomes it. At the end the sender says goodbye until
 * the receiver answers. Hello and goodbye may be lost like any datagram, which is why they are said
 * again; messages are not, nor is a welcome once the sender has gone on: then the receiver gives up
 * after its timeout.
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

/* What the datagrams that are no messages say. */
enum note { NOTE_HELLO, NOTE_WELCOME, NOTE_GOODBYE };

#define NOTE_BYTES 32

/*
 * For the sender: waits until options->n_threads receivers' sockets have said hello to the bound
 * socket `fd`, and stores one connected to each at its index in fds (NO_FD before; the caller
 * closes them also after an error).
 */
int datagram_welcome_all(int fd, const struct options *options, struct control *control,
                         note_function note, int *fds, struct failure *failure);

/* For the receiver: says hello on a connected socket until it is welcomed. */
int datagram_say_hello(int fd, const struct options *options, size_t index, struct control *control,
                       struct failure *failure);

/* For the sender: says goodbye until the receiver has answered, or is gone after having heard it.
 */
int datagram_say_goodbye(int fd, const struct options *options, size_t index,
                         struct failure *failure);

/* For the receiver: answers a goodbye. */
int datagram_answer_goodbye(int fd, const char *token, size_t index, struct failure *failure);

/* Whether NOTE_BYTES bytes are such a note of this measurement. */
bool datagram_is_note(const void *memory, enum note which, const char *token, size_t index);

#endif
