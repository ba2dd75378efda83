/*
 * Files that QEMU hands to its guest (-fw_cfg), read by ports without a driver, so that a guest may
 * read one that was not there yet when it booted. Needs the right to use ports: root's.
 *
 * Source: QEMU's documentation, "QEMU Firmware Configuration (fw_cfg) Device".
 */
#ifndef COPYCOST_SIMULATED_FW_CFG_H
#define COPYCOST_SIMULATED_FW_CFG_H

#include <stddef.h>

#include "failure.h"

/*
 * Reads a file into memory that is the caller's to free, with a zero behind it. Returns 0, -ENOENT
 * where there is none of that name, or another -errno.
 */
int fw_cfg_read(const char *name, char **content, size_t *n_bytes, struct failure *failure);

#endif
