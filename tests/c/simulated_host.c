/*
 * Takes QEMU's place for the plugin: loads it, hands it a few instructions as the version of the
 * interface that is its second argument does, and executes them. Arguments: the plugin, that
 * version, the target's name, the number of virtual CPUs, and what the plugin is told.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulated/qemu_api.h"

#define MAX_CALLBACKS 16
#define MAX_INSTRUCTIONS 8

struct qemu_plugin_insn {
    uint64_t address;
    size_t n_bytes;
    uint8_t bytes[15];
    uint64_t access; /* the address of its only one; 0: none */
    bool is_store;
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

/* Translates a block, and executes it some times. */
static void run(const struct qemu_plugin_insn *instructions, size_t n, int n_times)
{
    static struct qemu_plugin_insn translated[MAX_INSTRUCTIONS];
    struct qemu_plugin_tb tb = {n, translated};
    memcpy(translated, instructions, n * sizeof(*instructions));
    if (host.version < QEMU_API_HANDS_USERDATA) {
        host.translate(1, (uintptr_t)&tb);
    } else {
        host.translate((uintptr_t)&tb, host.userdata);
    }
    for (int time = 0; time < n_times; time++) {
        for (size_t i = 0; i < n; i++) {
            const struct qemu_plugin_insn *one = &translated[i];
            for (size_t k = 0; k < one->n_exec; k++) {
                one->exec[k](0, one->exec_data[k]);
            }
            for (size_t k = 0; one->access != 0 && k < one->n_mem; k++) {
                one->mem[k](0, one->is_store, one->access, one->mem_data[k]);
            }
        }
    }
}

#define MARK(n)                                                                                    \
    {                                                                                              \
        .address = 0x1000, .n_bytes = 8, .bytes = {0x0f, 0x1f, 0x84, 0, 'c', 'p', 'y', n}          \
    }
#define SWITCH_TO(thread)                                                                          \
    {.address = 0xffffffff81000004, .n_bytes = 7, .bytes = {0x48, 0x8b, 0xa6}, .access = (thread)}

int main(int argc, char **argv)
{
    static const struct qemu_plugin_insn TO_SENDER[] = {SWITCH_TO(0x100)};
    static const struct qemu_plugin_insn TO_OTHER[] = {SWITCH_TO(0x200)};
    static const struct qemu_plugin_insn SENDS[] = {MARK(1)};
    static const struct qemu_plugin_insn BEGINS[] = {MARK(3)};
    static const struct qemu_plugin_insn ENDS[] = {MARK(4)};
    static const struct qemu_plugin_insn WORK[] = {
        {.address = 0x2000, .n_bytes = 1, .bytes = {0x90}},
        {.address = 0x2001, .n_bytes = 1, .bytes = {0x58}, .access = 0x5000},
        {.address = 0x2002, .n_bytes = 1, .bytes = {0x50}, .access = 0x603d, .is_store = true},
    };
    static const struct qemu_plugin_insn FORGETS[] = {
        {.address = 0xffffffff81000100, .n_bytes = 3, .bytes = {0x0f, 0x22, 0xd8}}, /* mov to cr3 */
    };
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
    run(TO_SENDER, 1, 1);
    run(WORK, 3, 5); /* before the first mark */
    run(SENDS, 1, 1);
    run(WORK, 3, 5); /* warm-up */
    run(BEGINS, 1, 1);
    run(WORK, 3, 2);
    run(TO_OTHER, 1, 1);
    run(WORK, 3, 3);
    run(FORGETS, 1, 1);
    run(WORK, 3, 1);
    run(ENDS, 1, 1);
    (void)printf("%d %u\n", *(int *)dlsym(plugin, "qemu_plugin_version"), host.n_lookups);
    return EXIT_SUCCESS;
}
