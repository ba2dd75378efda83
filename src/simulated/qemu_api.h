/*
 * What this plugin uses of QEMU's plugin interface; no package of QEMU contains a header for it.
 * Versions of the interface: 1 until QEMU 8.2, 2 from 9.0, 3 from 9.1, 4 from 10.0, 5 from 10.1, 6
 * from 11.0, 7 from 11.1. All functions here are the same in all of them except two: from version 3
 * on, qemu_plugin_insn_data copies the instruction to a given address, and from 7 on, translation
 * callbacks get a pointer of ours as the last argument instead of the plugin's number as the first.
 * Source: QEMU's documentation, "QEMU TCG Plugins", and qemu-plugin.h of 7.2 to 11.1 (in
 * include/qemu, from 11.0 on in include/plugins).
 */
#ifndef COPYCOST_SIMULATED_QEMU_API_H
#define COPYCOST_SIMULATED_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_API_FIRST 1
#define QEMU_API_COPIES_INSTRUCTIONS 3
#define QEMU_API_HANDS_USERDATA 7
#define QEMU_API_LAST_KNOWN 7

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

typedef struct {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus;
            int max_vcpus;
        } system;
    };
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
/* Loads or stores alone cannot be requested: 7.2 confuses the two. */
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };

typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu_index, qemu_plugin_meminfo_t info,
                                          uint64_t vaddr, void *userdata);

/* What QEMU looks for in a plugin. */
QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv);

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            qemu_plugin_vcpu_udata_cb_t cb,
                                            enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *haddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *haddr);

/*
 * qemu_plugin_register_vcpu_tb_trans_cb, up to version 6 and from 7 on; both are looked up by name.
 */
typedef void (*qemu_tb_trans_cb_v1)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_tb_trans_cb_v7)(struct qemu_plugin_tb *tb, void *userdata);
typedef void qemu_register_tb_trans_v1(qemu_plugin_id_t id, qemu_tb_trans_cb_v1 cb);
typedef void qemu_register_tb_trans_v7(qemu_plugin_id_t id, qemu_tb_trans_cb_v7 cb, void *userdata);

/* qemu_plugin_insn_data, up to version 2 and from 3 on; both are looked up by name. */
typedef const void *qemu_insn_data_v1(const struct qemu_plugin_insn *insn);
typedef size_t qemu_insn_data_v3(const struct qemu_plugin_insn *insn, void *dest, size_t n_bytes);

#endif
