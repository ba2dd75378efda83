/*
 * Takes QEMU's place for the plugin: loads it, hands it instructions as the version of the
 * interface that is its second argument does, and executes them. Arguments: the plugin, that
 * version, the target's name, the number of virtual CPUs, and what the plugin is told. Standard
 * input, a line for each block that is translated and executed once:
 *
 *     ADDRESS N BYTES ACCESS...    N instructions of these bytes, in hexadecimal digits, the first
 *                                  one there; `load ADDRESS` and `store ADDRESS` are of the last
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulated/qemu_api.h"

#define MAX_CALLBACKS 4
#define MAX_INSTRUCTIONS 1000
#define BLANKS " \n"

struct qemu_plugin_insn {
    uint64_t address;
    size_t n_bytes;
    uint8_t bytes[15];
    size_t n_exec;
    size_t n_mem;
    qemu_plugin_vcpu_udata_cb_t exec[MAX_CALLBACKS];
    void *exec_data[MAX_CALLBACKS];
    qemu_plugin_vcpu_mem_cb_t mem[MAX_CALLBACKS];
    void *mem_data[MAX_CALLBACKS];
};

struct qemu_plugin_tb {
    size_t n;
    struct qemu_plugin_insn *instructions;
};

struct qemu_plugin_hwaddr {
    uint64_t physical;
};

static struct {
    int version;
    void (*translate)(uintptr_t first, uintptr_t second); /* of two words in all versions */
    uintptr_t userdata;
    unsigned int n_lookups;
    struct qemu_plugin_hwaddr found;
} host;

/* What QEMU exports; each by its name, which -rdynamic shows. */

/* One function for both forms, as below: before version 7 the last argument is none. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(uintptr_t, uintptr_t),
                                           uintptr_t userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(uintptr_t, uintptr_t),
                                           uintptr_t userdata)
{
    (void)id;
    host.translate = cb;
    host.userdata = userdata;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            qemu_plugin_vcpu_udata_cb_t cb,
                                            enum qemu_plugin_cb_flags flags, void *userdata)
{
    (void)flags;
    insn->exec[insn->n_exec] = cb;
    insn->exec_data[insn->n_exec++] = userdata;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *userdata)
{
    (void)flags;
    (void)rw;
    insn->mem[insn->n_mem] = cb;
    insn->mem_data[insn->n_mem++] = userdata;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
    return tb->n;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
    return &tb->instructions[index];
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
    return insn->address;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
    return insn->n_bytes;
}

/* One function for both forms: on x86-64 the callee may ignore arguments, and the result of either
 * is a word. Before version 3 there are no further ones. */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t n_bytes);
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t n_bytes)
{
    if (host.version < QEMU_API_COPIES_INSTRUCTIONS) {
        return (uintptr_t)insn->bytes;
    }
    const size_t n = insn->n_bytes < n_bytes ? insn->n_bytes : n_bytes;
    memcpy(dest, insn->bytes, n);
    return n;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
    return info != 0;
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
    (void)info;
    return 3;
}

/* Every page lies where it is. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
    (void)info;
    host.n_lookups++;
    host.found.physical = vaddr & 0xffffffff;
    return &host.found;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr)
{
    (void)haddr;
    return false;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr)
{
    return haddr->physical;
}

static void translate(size_t n, struct qemu_plugin_insn *instructions)
{
    struct qemu_plugin_tb tb = {n, instructions};
    if (host.version < QEMU_API_HANDS_USERDATA) {
        host.translate(1, (uintptr_t)&tb);
    } else {
        host.translate((uintptr_t)&tb, host.userdata);
    }
}

static uint64_t next_number(char **rest)
{
    return strtoull(strtok_r(NULL, BLANKS, rest), NULL, 0);
}

static void run(char *line)
{
    static struct qemu_plugin_insn block[MAX_INSTRUCTIONS];
    char *rest = NULL;
    struct qemu_plugin_insn one = {.address = strtoull(strtok_r(line, BLANKS, &rest), NULL, 0)};
    const size_t n = next_number(&rest);
    const char *digits = strtok_r(NULL, BLANKS, &rest);
    while (one.n_bytes < sizeof(one.bytes) &&
           sscanf(digits + 2 * one.n_bytes, "%2" SCNx8, one.bytes + one.n_bytes) == 1) {
        one.n_bytes++;
    }
    for (size_t i = 0; i < n; i++) {
        block[i] = one;
        one.address += one.n_bytes;
    }
    translate(n, block);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < block[i].n_exec; k++) {
            block[i].exec[k](0, block[i].exec_data[k]);
        }
    }
    const struct qemu_plugin_insn *last = &block[n - 1];
    for (const char *word = NULL; (word = strtok_r(NULL, BLANKS, &rest)) != NULL;) {
        const uint64_t address = next_number(&rest);
        for (size_t k = 0; k < last->n_mem; k++) {
            last->mem[k](0, strcmp(word, "store") == 0, address, last->mem_data[k]);
        }
    }
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;
    if (argc < 5) {
        return EXIT_FAILURE;
    }
    host.version = atoi(argv[2]);
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (plugin == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return EXIT_FAILURE;
    }
    int (*install)(qemu_plugin_id_t, const qemu_info_t *, int, char **) = NULL;
    void *found = dlsym(plugin, "qemu_plugin_install");
    memcpy((void *)&install, (const void *)&found, sizeof(found));
    qemu_info_t info = {.target_name = argv[3], .system_emulation = true};
    info.version.cur = host.version;
    info.system.smp_vcpus = atoi(argv[4]);
    if (install == NULL || install(1, &info, argc - 5, argv + 5) != 0) {
        return EXIT_FAILURE;
    }
    while (getline(&line, &room, stdin) > 0) {
        run(line);
    }
    free(line);
    (void)printf("%d %u\n", *(int *)dlsym(plugin, "qemu_plugin_version"), host.n_lookups);
    return EXIT_SUCCESS;
}
