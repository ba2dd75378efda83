/*
 * A plugin of QEMU's emulator of x86-64 (TCG) that counts instructions and simulates caches while
 * our programs in the guest are in their window (window_mark.h), and writes the counts when it
 * ends. Options: settings.h.
 *
 * Everything is translated once, with calls to the counting functions: before the first mark and
 * after the window these return at once. Translation takes most of a cell's time, and translating
 * twice, the first time without these calls, takes longer.
 *
 * One virtual CPU: the interface says which CPU made an access, but not when others see it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulated/counting.h"
#include "simulated/page_table.h"
#include "simulated/qemu_api.h"
#include "simulated/result.h"
#include "simulated/settings.h"
#include "simulated/symbols.h"

/* Switches threads in the kernel (arch/x86/entry/entry_64.S). */
#define SWITCH_FUNCTION "__switch_to_asm"

/* The largest access that QEMU reports as one [bytes]. */
#define MAX_ACCESS_BYTES 16

/* Runs are allocated by the thousand and never freed: translations refer to them. */
#define RUNS_PER_CHUNK 4096

struct run_chunk {
    struct run_chunk *next;
    size_t n_used;
    struct run runs[RUNS_PER_CHUNK];
};

/* The plugin's only variables: QEMU passes no state to the translation callback. */
static struct plugin {
    qemu_plugin_id_t id;
    struct settings settings;
    struct symbols symbols;
    struct counting counting;
    struct page_table pages;
    struct run_chunk *chunks;
    qemu_insn_data_v1 *insn_data; /* one of these two */
    qemu_insn_data_v3 *copy_insn_data;
    size_t switch_function; /* the function that switches threads */
    bool is_on;             /* from the first mark to the end of the window */
} the;

int qemu_plugin_version = QEMU_API_FIRST;

/*
 * QEMU reads this version before it calls anything here, and refuses plugins older or newer than it
 * supports; so the plugin states the newest version that can be inferred from the functions QEMU
 * has. Versions 3 and 7 added no function: those get 2 and 6. What differs is chosen by the version
 * that QEMU then states itself (qemu_plugin_install).
 */
__attribute__((constructor)) static void choose_version(void)
{
    static const struct {
        const char *function;
        int version;
    } SIGNS[] = {
        {"qemu_plugin_scoreboard_new", 2},
        {"qemu_plugin_read_memory_vaddr", 4},
        {"qemu_plugin_translate_vaddr", 5},
        {"qemu_plugin_set_pc", 6},
    };
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++) {
        if (dlsym(RTLD_DEFAULT, SIGNS[i].function) != NULL) {
            qemu_plugin_version = SIGNS[i].version;
        }
    }
}

/* For errors in callbacks, which have no caller to return them to. */
static void die(const struct failure *failure)
{
    (void)report_failure("simulated", failure);
    exit(EXIT_FAILED);
}

static struct run *new_run(void)
{
    if (the.chunks == NULL || the.chunks->n_used == RUNS_PER_CHUNK) {
        struct run_chunk *chunk = malloc(sizeof(*chunk));
        if (chunk == NULL) {
            struct failure failure = {0};
            (void)fail(&failure, ENOMEM, "memory for a translation");
            die(&failure);
        }
        chunk->next = the.chunks;
        chunk->n_used = 0;
        the.chunks = chunk;
    }
    return &the.chunks->runs[the.chunks->n_used++];
}

static void write_result(void)
{
    struct failure failure = {0};
    FILE *file = fopen(the.settings.result_path, "we");
    if (file == NULL) {
        (void)fail(&failure, errno, "%s", the.settings.result_path);
        die(&failure);
        return;
    }
    if (result_write(file, &the.settings.hierarchy, &the.counting, &the.symbols, &failure) != 0) {
        die(&failure);
    }
    if (fclose(file) != 0) {
        (void)fail(&failure, errno, "%s", the.settings.result_path);
        die(&failure);
    }
}

static void on_mark(unsigned int vcpu_index, void *userdata)
{
    const struct counting *counting = &the.counting;
    struct failure failure = {0};
    (void)vcpu_index;
    if (counting->window_ended) {
        return; /* what follows belongs to no window */
    }
    if (counting->thread == 0) { /* everything would count to the last mark's side */
        (void)fail(&failure, 0,
                   "symbols: " SWITCH_FUNCTION " of %s showed no thread switch, expected it to "
                   "load the stack pointer from an offset from %%rsi",
                   the.settings.symbols_path);
        die(&failure);
    }
    if (counting_mark(&the.counting, *(const enum window_mark *)userdata) != 0) {
        (void)fail(&failure, 0, "more than %d threads of senders and receivers",
                   MAX_MARKED_THREADS);
        die(&failure);
    }
    the.is_on = !counting->window_ended;
    if (counting->window_ended) {
        write_result();
    }
}

/* To switch threads, the kernel loads the next one's stack pointer from its record of that thread,
 * whose address is unique to it. */
static void on_switch_load(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t vaddr,
                           void *userdata)
{
    (void)vcpu_index;
    (void)info;
    (void)userdata;
    counting_switch(&the.counting, vaddr);
}

static void on_run(unsigned int vcpu_index, void *userdata)
{
    (void)vcpu_index;
    if (the.is_on) {
        counting_run(&the.counting, userdata);
    }
}

static void on_forgotten_pages(unsigned int vcpu_index, void *userdata)
{
    (void)vcpu_index;
    (void)userdata;
    page_table_forget(&the.pages);
}

/* Asks QEMU where an address lies. Returns whether it is memory. */
static bool look_up(qemu_plugin_meminfo_t info, uint64_t address, uint64_t *physical)
{
    const struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, address);
    if (found == NULL || qemu_plugin_hwaddr_is_io(found)) {
        return false;
    }
    *physical = qemu_plugin_hwaddr_phys_addr(found);
    page_table_remember(&the.pages, address, *physical);
    return true;
}

static void use(qemu_plugin_meminfo_t info, uint64_t vaddr, const struct run *run, bool is_store)
{
    uint64_t physical = 0;
    if (page_table_find(&the.pages, vaddr, &physical) || look_up(info, vaddr, &physical)) {
        counting_use(&the.counting, run->function, physical >> the.counting.hierarchy.line_shift,
                     is_store);
    }
}

/* The lines that an access needs: one, or two if it crosses a line boundary. */
static inline void use_lines(qemu_plugin_meminfo_t info, uint64_t vaddr, const struct run *run,
                             bool is_store)
{
    const uint64_t line_mask = the.settings.hierarchy.line_bytes - 1;
    use(info, vaddr, run, is_store);
    if ((vaddr & line_mask) > line_mask + 1 - MAX_ACCESS_BYTES) {
        const uint64_t last = vaddr + (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
        if ((last & ~line_mask) != (vaddr & ~line_mask)) {
            use(info, last, run, is_store);
        }
    }
}

static void on_access(unsigned int vcpu_index, qemu_plugin_meminfo_t info, uint64_t vaddr,
                      void *userdata)
{
    (void)vcpu_index;
    if (the.is_on) {
        const bool is_store = qemu_plugin_mem_is_store(info);
        counting_access(&the.counting, userdata, is_store);
        use_lines(info, vaddr, userdata, is_store);
    }
}

/* An instruction as it is translated. */
struct translated {
    struct qemu_plugin_insn *insn;
    uint64_t address;
    size_t function;
    enum repeat repeat;
};

/* What is looked at of one instruction by itself. */
static struct translated translate_one(struct qemu_plugin_insn *insn)
{
    uint8_t copy[INSTRUCTION_MAX_BYTES] = {0};
    const uint8_t *bytes = copy;
    const size_t n_bytes = qemu_plugin_insn_size(insn);
    struct translated found = {.insn = insn, .address = qemu_plugin_insn_vaddr(insn)};
    if (the.insn_data != NULL) {
        bytes = the.insn_data(insn);
    } else {
        (void)the.copy_insn_data(insn, copy, sizeof(copy));
    }
    found.function = symbols_find(&the.symbols, found.address);
    found.repeat = instruction_repeat(bytes, n_bytes);
    const enum window_mark *mark = instruction_mark(bytes, n_bytes);
    if (mark != NULL && found.function == FUNCTION_USER) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, (void *)mark);
    }
    if (found.function == the.switch_function && instruction_takes_stack_of_rsi(bytes, n_bytes)) {
        qemu_plugin_register_vcpu_mem_cb(insn, on_switch_load, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, NULL);
    }
    if (instruction_forgets_pages(bytes, n_bytes)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_forgotten_pages, QEMU_PLUGIN_CB_NO_REGS,
                                               NULL);
    }
    return found;
}

/* Whether an instruction begins a new run. */
static bool begins_run(const struct run *run, const struct translated *next)
{
    return run == NULL || run->function != next->function || run->repeat != REPEAT_NONE ||
           next->repeat != REPEAT_NONE ||
           symbols_is_entry(&the.symbols, next->function, next->address);
}

/* Translations after the window are left unchanged. */
static void translate(const struct qemu_plugin_tb *tb)
{
    const size_t n = the.counting.window_ended ? 0 : qemu_plugin_tb_n_insns(tb);
    struct run *run = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct translated next = translate_one(qemu_plugin_tb_get_insn(tb, i));
        if (begins_run(run, &next)) {
            run = new_run();
            *run = (struct run){
                .function = next.function,
                .address = next.address,
                .is_entry = symbols_is_entry(&the.symbols, next.function, next.address),
                .repeat = next.repeat,
            };
            qemu_plugin_register_vcpu_insn_exec_cb(next.insn, on_run, QEMU_PLUGIN_CB_NO_REGS, run);
        }
        run->n_instructions++;
        qemu_plugin_register_vcpu_mem_cb(next.insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, run);
    }
}

static void on_translation_v1(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    translate(tb);
}

static void on_translation_v7(struct qemu_plugin_tb *tb, void *userdata)
{
    (void)userdata;
    translate(tb);
}

static void ask_for_translations(int version)
{
    void *found = dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_tb_trans_cb");
    if (version < QEMU_API_HANDS_USERDATA) {
        qemu_register_tb_trans_v1 *ask = NULL;
        memcpy((void *)&ask, (const void *)&found, sizeof(found));
        ask(the.id, on_translation_v1);
    } else {
        qemu_register_tb_trans_v7 *ask = NULL;
        memcpy((void *)&ask, (const void *)&found, sizeof(found));
        ask(the.id, on_translation_v7, NULL);
    }
}

/* Takes the function in the form that this interface version has. */
static void choose_insn_data(int version)
{
    /* ISO C converts no pointer to an object into one to a function; POSIX (dlsym) does. */
    void *found = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
    if (version < QEMU_API_COPIES_INSTRUCTIONS) {
        memcpy((void *)&the.insn_data, (const void *)&found, sizeof(found));
    } else {
        memcpy((void *)&the.copy_insn_data, (const void *)&found, sizeof(found));
    }
}

static int check_machine(const qemu_info_t *info, struct failure *failure)
{
    if (strcmp(info->target_name, "x86_64") != 0 || !info->system_emulation) {
        return fail(failure, 0, "got QEMU for %s, expected qemu-system-x86_64", info->target_name);
    }
    if (info->version.cur > QEMU_API_LAST_KNOWN) {
        return fail(failure, 0,
                    "got QEMU with version %d of its plugin interface, expected %d to %d",
                    info->version.cur, QEMU_API_FIRST, QEMU_API_LAST_KNOWN);
    }
    if (info->system.smp_vcpus != 1) {
        return fail(failure, 0, "got a guest of %d virtual CPUs, expected one",
                    info->system.smp_vcpus);
    }
    return 0;
}

static int find_switch_function(struct failure *failure)
{
    the.switch_function = symbols_named(&the.symbols, SWITCH_FUNCTION);
    return the.switch_function != FUNCTION_UNKNOWN
               ? 0
               : fail(failure, 0, "symbols: %s has no " SWITCH_FUNCTION, the.settings.symbols_path);
}

static int prepare(const qemu_info_t *info, int n_words, char **words, struct failure *failure)
{
    int error = check_machine(info, failure);
    if (error == 0) {
        error = settings_parse(&the.settings, n_words, words, failure);
    }
    if (error == 0) {
        error = symbols_open(&the.symbols, the.settings.symbols_path, failure);
    }
    if (error == 0) {
        error = find_switch_function(failure);
    }
    if (error == 0) {
        error = counting_open(&the.counting, &the.settings.hierarchy,
                              symbols_n_functions(&the.symbols), failure);
    }
    return error;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    struct failure failure = {0};
    the.id = id;
    the.pages.forgotten = 1;
    choose_insn_data(info->version.cur);
    if (prepare(info, argc, argv, &failure) != 0) {
        (void)report_failure("simulated", &failure);
        return -1;
    }
    ask_for_translations(info->version.cur);
    return 0;
}
