/*
 * Feeds the counting of a simulation with a recorded trace, as the plugin of QEMU does with what a
 * guest executes, and writes the result. Options: src/simulated/settings.h. Standard input, a line
 * each:
 *
 *     switch THREAD                     another thread runs
 *     mark NUMBER                       of window_mark.h
 *     run ADDRESS N                     N instructions, the first one there
 *     code ADDRESS BYTES                one instruction, in hexadecimal digits
 *     load ADDRESS, store ADDRESS       one of the last run, at that place in memory
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "simulated/counting.h"
#include "simulated/result.h"
#include "simulated/settings.h"
#include "simulated/symbols.h"

#define LINE_BYTES 256

struct replay {
    struct settings settings;
    struct symbols symbols;
    struct counting counting;
    struct run run;
};

static int run(struct replay *replay, uint64_t address, uint64_t n, enum repeat repeat)
{
    const size_t function = symbols_find(&replay->symbols, address);
    replay->run = (struct run){
        .function = function,
        .address = address,
        .n_instructions = (uint32_t)n,
        .is_entry = symbols_is_entry(&replay->symbols, function, address),
        .repeat = repeat,
    };
    counting_run(&replay->counting, &replay->run);
    return 0;
}

static int run_code(struct replay *replay, uint64_t address, const char *digits)
{
    uint8_t bytes[INSTRUCTION_MAX_BYTES];
    size_t n_bytes = 0;
    while (n_bytes < sizeof(bytes) &&
           sscanf(digits + 2 * n_bytes, "%2" SCNx8, bytes + n_bytes) == 1) {
        n_bytes++;
    }
    const enum window_mark *mark = instruction_mark(bytes, n_bytes);
    const int error = mark != NULL ? counting_mark(&replay->counting, *mark) : 0;
    return error != 0 ? error : run(replay, address, 1, instruction_repeat(bytes, n_bytes));
}

static int access(struct replay *replay, uint64_t address, bool is_store)
{
    counting_access(&replay->counting, &replay->run, is_store);
    counting_use(&replay->counting, replay->run.function,
                 address >> replay->counting.hierarchy.line_shift, is_store);
    return 0;
}

/* Returns 0, -EPROTO for what is no line of a trace, or another -errno. */
static int replay_line(struct replay *replay, const char *line, struct failure *failure)
{
    char word[LINE_BYTES];
    char rest[LINE_BYTES] = "";
    char digits[LINE_BYTES];
    if (sscanf(line, "%255s %255s %255s", word, digits, rest) < 2) {
        return fail(failure, 0, "trace: got '%s'", line);
    }
    const uint64_t number = strtoull(digits, NULL, 0);
    if (strcmp(word, "switch") == 0) {
        counting_switch(&replay->counting, number);
        return 0;
    }
    if (strcmp(word, "mark") == 0) {
        return counting_mark(&replay->counting, (enum window_mark)number);
    }
    if (strcmp(word, "run") == 0) {
        return run(replay, number, strtoull(rest, NULL, 10), REPEAT_NONE);
    }
    if (strcmp(word, "code") == 0) {
        return run_code(replay, number, rest);
    }
    if (strcmp(word, "load") == 0 || strcmp(word, "store") == 0) {
        return access(replay, number, strcmp(word, "store") == 0);
    }
    return fail(failure, 0, "trace: got '%s'", line);
}

static int replay_all(struct replay *replay, struct failure *failure)
{
    char line[LINE_BYTES];
    int error = 0;
    while (error == 0 && !replay->counting.window_ended &&
           fgets(line, sizeof(line), stdin) != NULL) {
        error = replay_line(replay, line, failure);
    }
    return error;
}

static int open_all(struct replay *replay, int n_words, char **words, struct failure *failure)
{
    int error = settings_parse(&replay->settings, n_words, words, failure);
    if (error == 0) {
        error = symbols_open(&replay->symbols, replay->settings.symbols_path, failure);
    }
    if (error == 0) {
        error = counting_open(&replay->counting, &replay->settings.hierarchy,
                              symbols_n_functions(&replay->symbols), failure);
    }
    return error;
}

int main(int argc, char **argv)
{
    static struct replay replay;
    struct failure failure = {0};
    int error = open_all(&replay, argc - 1, argv + 1, &failure);
    if (error == 0) {
        error = replay_all(&replay, &failure);
    }
    if (error == 0) {
        error = result_write(stdout, &replay.settings.hierarchy, &replay.counting, &replay.symbols,
                             &failure);
    }
    counting_close(&replay.counting);
    symbols_close(&replay.symbols);
    return error != 0 ? (int)report_failure("simulated_trace", &failure) : EXIT_SUCCESS;
}
