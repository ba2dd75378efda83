/*
 * Files that QEMU passes to its guest (-fw_cfg), read through I/O ports without a driver, so a
 * guest can read one that did not exist yet when it booted. Needs the right to use ports, that is
 * root. Source: QEMU's documentation, "QEMU Firmware Configuration (fw_cfg) Device".
 */
#ifndef COPYCOST_SIMULATED_FW_CFG_H
#define COPYCOST_SIMULATED_FW_CFG_H

#include <stddef.h>

#include "failure.h"

/*
 * Reads a file into memory, which the caller must free, with a terminating zero. Returns 0, -ENOENT
 * if no file has that name, or another -errno.
 */
int fw_cfg_read(const char *name, char **content, size_t *n_bytes, struct failure *failure);

#endif
