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

#ifndef SO_EE_ORIGIN_ZEROCOPY
#define SO_EE_ORIGIN_ZEROCOPY 5 /* linux/errqueue.h, Linux 4.14 */
#endif

#ifndef SO_EE_CODE_ZEROCOPY_COPIED
#define SO_EE_CODE_ZEROCOPY_COPIED 1 /* linux/errqueue.h, Linux 4.14 */
#endif

#endif
