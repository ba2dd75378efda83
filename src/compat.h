/* Kernel constants that a C library older than the kernel may lack; values from the kernel's uapi
 * headers. */
#ifndef COPYCOST_COMPAT_H
#define COPYCOST_COMPAT_H

#include <sys/socket.h>

#include <linux/errqueue.h>

#ifndef SO_ZEROCOPY
#define SO_ZEROCOPY 60 /* asm-generic/socket.h, Linux 4.14 */
#endif

#ifndef MSG_ZEROCOPY
#define MSG_ZEROCOPY 0x4000000 /* linux/socket.h, Linux 4.14 */
#endif

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* linux/udp.h, Linux 4.18 */
#endif

#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE (1U << 3) /* linux/io_uring.h, Linux 6.2 */
#endif

#ifndef IORING_NOTIF_USAGE_ZC_COPIED
#define IORING_NOTIF_USAGE_ZC_COPIED (1U << 31) /* linux/io_uring.h, Linux 6.2 */
#endif

#ifndef SO_EE_ORIGIN_ZEROCOPY
#define SO_EE_ORIGIN_ZEROCOPY 5 /* linux/errqueue.h, Linux 4.14 */
#endif

#ifndef SO_EE_CODE_ZEROCOPY_COPIED
#define SO_EE_CODE_ZEROCOPY_COPIED 1 /* linux/errqueue.h, Linux 4.14 */
#endif

#endif
