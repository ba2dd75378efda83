#include "simulated/fw_cfg.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>

/* The device's ports on x86. */
#define PORT_SELECTOR 0x510
#define PORT_DATA 0x511
#define N_PORTS 2

#define SELECT_DIRECTORY 0x19
#define NAME_BYTES 56

/* An entry of the directory; numbers are big-endian. */
struct entry {
    uint8_t size[4];
    uint8_t selector[2];
    uint8_t reserved[2];
    char name[NAME_BYTES];
};

static uint32_t big_endian(const uint8_t *bytes, size_t n_bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static void read_data(void *to, size_t n_bytes)
{
    insb(PORT_DATA, to, n_bytes);
    __asm__ volatile("" ::: "memory"); /* glibc's insb does not say that it writes there */
}

static int find(const char *name, struct entry *entry, struct failure *failure)
{
    uint8_t count[4];
    outw(SELECT_DIRECTORY, PORT_SELECTOR);
    read_data(count, sizeof(count));
    for (uint32_t left = big_endian(count, sizeof(count)); left > 0; left--) {
        read_data(entry, sizeof(*entry));
        if (strncmp(entry->name, name, sizeof(entry->name)) == 0) {
            return 0;
        }
    }
    return fail(failure, ENOENT, "fw_cfg: %s", name);
}

int fw_cfg_read(const char *name, char **content, size_t *n_bytes, struct failure *failure)
{
    struct entry entry;
    if (ioperm(PORT_SELECTOR, N_PORTS, 1) != 0) {
        return fail(failure, errno, "fw_cfg: ioperm");
    }
    const int error = find(name, &entry, failure);
    if (error != 0) {
        return error;
    }
    *n_bytes = big_endian(entry.size, sizeof(entry.size));
    *content = malloc(*n_bytes + 1);
    if (*content == NULL) {
        return fail(failure, ENOMEM, "fw_cfg: memory for %zu bytes", *n_bytes);
    }
    outw((uint16_t)big_endian(entry.selector, sizeof(entry.selector)), PORT_SELECTOR);
    read_data(*content, *n_bytes);
    (*content)[*n_bytes] = '\0';
    return 0;
}
