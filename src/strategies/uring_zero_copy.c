/*
 * uring_zero_copy: IORING_OP_SENDMSG_ZC by io_uring, with one iovec per field.
 *
 * Copies: 0 asked for; the link decides
 * System calls: 1 io_uring_enter(2) for N messages
 * Linux: 6.1; 6.2 tells copies
 *
 * Path of the bytes: as with zero_copy: the kernel pins the pages of the fields and lets socket
 * buffers refer to them; no copy on the way to the device, and one before local delivery on
 * loopback and veth. What differs is how the kernel says so. Each send has two completions in the
 * ring: its result, and, when nothing refers to the pages any more, a notification
 * (IORING_CQE_F_NOTIF), until which the fields belong to the kernel. Both are read from memory
 * that both sides see, where MSG_ZEROCOPY needs a recvmsg(MSG_ERRQUEUE) for each notification, and
 * the kernel a packet on the error queue to carry it. The notification also tells whether the
 * kernel copied after all (IORING_SEND_ZC_REPORT_USAGE, Linux 6.2).
 *
 * A batch (--batch) is submitted by one io_uring_enter(2), linked over TCP as in uring_send. The
 * socket is a registered file of the ring. The pages are looked up and pinned for each send;
 * uring_registered has that done beforehand.
 *
 * Needs Linux 6.1, and liburing 2.3 to be built; io_uring_enter(2), io_uring_prep_sendmsg_zc(3).
 */
#include "strategy.h"
#include "uring/zc.h"

#ifdef HAVE_URING

static int uring_zero_copy_probe(struct failure *failure)
{
    return uring_zc_probe(false, failure);
}

static int uring_zero_copy_setup(struct stream *stream)
{
    return uring_zc_setup(stream, false);
}

#endif

const struct strategy the_strategy = {
    .name = "uring_zero_copy",
    .summary = "zero-copy sendmsg by io_uring, notifications read from its ring",
    .transports = TRANSPORT_STREAM | TRANSPORT_DATAGRAM,
    .batching = true,
    .zero_copy = true,
#ifdef HAVE_URING
    .slots_in_flight = uring_zc_slots_in_flight,
    .probe = uring_zero_copy_probe,
    .setup = uring_zero_copy_setup,
    .send_messages = uring_zc_send_messages,
    .drain = uring_zc_drain,
    .teardown = uring_zc_teardown,
#else
    .probe = uring_not_built, /* so that the others are never called */
#endif
};
