/*
 * uring_zero_copy: IORING_OP_SENDMSG_ZC through io_uring, with one iovec per field.
 *
 * Copies: 0 requested; the link decides
 * System calls: 1 io_uring_enter(2) for N messages
 * Linux: 6.1; 6.2 to report copies
 *
 * Path of the bytes: as with zero_copy, the kernel pins the pages of the fields, and socket buffers
 * refer to them: no copy before the device, and one before local delivery on loopback and veth.
 * Only the completions differ. Each send has two of them in the ring: its result and, when nothing
 * refers to the pages any more, a notification (IORING_CQE_F_NOTIF), until which the fields belong
 * to the kernel. Both are read from memory shared with the kernel, whereas MSG_ZEROCOPY needs a
 * recvmsg(2) with MSG_ERRQUEUE for each notification, and the kernel a packet on the error queue to
 * carry it. The notification also tells whether the kernel copied after all
 * (IORING_SEND_ZC_REPORT_USAGE, Linux 6.2).
 *
 * One io_uring_enter(2) submits a batch (--batch), linked over TCP as in uring_send. The socket is
 * a registered file of the ring. The pages are looked up and pinned for each send; uring_registered
 * has that done beforehand.
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
    .summary = "zero-copy sendmsg through io_uring, notifications read from its ring",
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
    .probe = uring_not_built, /* so the others are never called */
#endif
};
