/*
 * A check of the simulation: walks through memory whose misses follow from the caches alone. In the
 * guest it takes the place of a sender (session/control.h); elsewhere it only walks.
 *
 * Every round touches each line of the buffer once, in the same order. If the buffer fits into a
 * level, all of its lines are there from the second round on; if it is at least twice the level,
 * each line has been evicted, as the least recently used one, before its turn comes again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failure.h"
#include "program/build_info.h"
#include "program/json.h"
#include "program/size_text.h"
#include "simulated/window_mark.h"

#define PROGRAM "simulated_walk"
#define SCHEMA_VERSION 1

#define LINE_BYTES ((size_t)64)
#define MIN_BYTES ((size_t)4 << 10)
#define MAX_BYTES ((size_t)256 << 20)
#define MAX_ROUNDS 1000
#define MAX_FD 1023
#define NO_FD SIZE_MAX

/* Pages of this size are physically contiguous, so no level's sets fill unevenly. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* For the shuffle: a linear congruential generator, Knuth's MMIX. */
#define MULTIPLIER UINT64_C(6364136223846793005)
#define INCREMENT UINT64_C(1442695040888963407)

enum pattern { STRIDED, RANDOM, COPY };

static const char *const PATTERN_NAMES[] = {"strided", "random", "copy"};
#define N_PATTERNS (sizeof(PATTERN_NAMES) / sizeof(PATTERN_NAMES[0]))

struct request {
    enum pattern pattern;
    size_t n_bytes;
    size_t n_rounds; /* in the window, after one before it */
    size_t control_fd;
};

/* The beginning of a line. */
struct line {
    struct line *next;
    char rest[LINE_BYTES - sizeof(struct line *)];
};

/* Links all lines in a circle: in order, or shuffled (Sattolo's algorithm gives one circle). */
static void link_lines(struct line *lines, size_t n_lines, bool shuffled)
{
    uint64_t state = 1;
    for (size_t i = 0; i < n_lines; i++) {
        lines[i].next = &lines[i];
    }
    for (size_t i = n_lines - 1; i > 0; i--) {
        state = state * MULTIPLIER + INCREMENT;
        const size_t other = shuffled ? (size_t)(state >> 33) % i : i - 1;
        struct line *const next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }
}

/* One load per line; the compiler keeps the position in a register. */
static void follow(struct line **place, size_t n_lines)
{
    struct line *at = *place;
    for (size_t i = 0; i < n_lines; i++) {
        at = *(struct line *volatile *)&at->next;
    }
    *place = at;
}

static void walk_once(const struct request *request, struct line **place)
{
    char *bytes = (char *)*place;
    const size_t half_bytes = request->n_bytes / 2;
    if (request->pattern == COPY) {
        memcpy(bytes, bytes + half_bytes, half_bytes);
        __asm__ volatile("" : : "r"(bytes) : "memory"); /* or the compiler would drop it */
    } else {
        follow(place, request->n_bytes / LINE_BYTES);
    }
}

static int say(size_t fd, const char *line, struct failure *failure)
{
    const ssize_t length = (ssize_t)strlen(line);
    return fd == NO_FD || write((int)fd, line, (size_t)length) == length
               ? 0
               : fail(failure, errno, "write to the control line");
}

static int await_line(size_t fd, struct failure *failure)
{
    char c = fd == NO_FD ? '\n' : '\0';
    while (c != '\n') {
        if (read((int)fd, &c, 1) != 1) {
            return fail(failure, EPIPE, "the control line");
        }
    }
    return 0;
}

static int walk(const struct request *request, struct line *lines, struct failure *failure)
{
    struct line *place = lines;
    int error = await_line(request->control_fd, failure); /* the token, which is not needed here */
    if (error == 0) {
        error = say(request->control_fd, "listening 0\nready\n", failure);
    }
    if (error == 0) {
        error = await_line(request->control_fd, failure);
    }
    WINDOW_MARK(MARK_SENDER);
    walk_once(request, &place);
    WINDOW_MARK(MARK_WINDOW_BEGIN);
    for (size_t i = 0; i < request->n_rounds; i++) {
        walk_once(request, &place);
    }
    WINDOW_MARK(MARK_WINDOW_END);
    return error != 0 ? error : say(request->control_fd, "measured\n", failure);
}

static int report(const struct request *request, struct failure *failure)
{
    struct json json = {.file = stdout};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", SCHEMA_VERSION);
    json_string(&json, "program", PROGRAM);
    build_info_report(&json);
    json_string(&json, "pattern", PATTERN_NAMES[request->pattern]);
    json_uint(&json, "bytes", request->n_bytes);
    json_uint(&json, "rounds", request->n_rounds);
    json_uint(&json, "lines", request->n_bytes / LINE_BYTES * request->n_rounds);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

static int run(const struct request *request, struct failure *failure)
{
    const size_t whole_bytes = (request->n_bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
    struct line *lines = aligned_alloc(HUGE_PAGE_BYTES, whole_bytes);
    if (lines == NULL) {
        return fail(failure, ENOMEM, "a buffer of %zu bytes", request->n_bytes);
    }
    (void)madvise(lines, whole_bytes, MADV_HUGEPAGE); /* a kernel may have none */
    memset(lines, 0, whole_bytes);
    link_lines(lines, request->n_bytes / LINE_BYTES, request->pattern == RANDOM);
    int error = walk(request, lines, failure);
    if (error == 0) {
        error = report(request, failure);
    }
    free(lines);
    return error;
}

static void print_usage(FILE *to)
{
    (void)fputs(
        "usage: " PROGRAM " OPTIONS\n"
        "  --pattern NAME   strided, random or copy (half of the buffer to the other half);\n"
        "                   default strided\n"
        "  --bytes N        buffer size [bytes], a multiple of 128; 4096..2^28, default 4096\n"
        "  --rounds N       rounds through the buffer in the window; 1..1000, default 1\n"
        "  --control-fd N   stream socket of an orchestrator; default: none\n"
        "  --version        print source digest, compiler and flags\n"
        "  --help           print this text\n"
        "exit codes: 0 walked, 1 failed, 2 bad usage\n",
        to);
}

static bool parse_pattern(const char *text, enum pattern *pattern)
{
    for (size_t i = 0; i < N_PATTERNS; i++) {
        if (strcmp(text, PATTERN_NAMES[i]) == 0) {
            *pattern = (enum pattern)i;
            return true;
        }
    }
    return false;
}

/* Reads one option and its value. Returns whether they are right. */
static bool take_option(const char *name, const char *text, struct request *request)
{
    if (strcmp(name, "--pattern") == 0) {
        return parse_pattern(text, &request->pattern);
    }
    if (strcmp(name, "--bytes") == 0) {
        return size_text_parse(text, MIN_BYTES, MAX_BYTES, &request->n_bytes) &&
               request->n_bytes % (2 * LINE_BYTES) == 0;
    }
    if (strcmp(name, "--rounds") == 0) {
        return size_text_parse(text, 1, MAX_ROUNDS, &request->n_rounds);
    }
    return strcmp(name, "--control-fd") == 0 &&
           size_text_parse(text, 0, MAX_FD, &request->control_fd);
}

int main(int argc, char **argv)
{
    struct failure failure = {0};
    struct request request = {STRIDED, MIN_BYTES, 1, NO_FD};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            return EXIT_MEASURED;
        }
        if (strcmp(argv[i], "--version") == 0) {
            (void)printf(PROGRAM ", ");
            build_info_print(stdout);
            return EXIT_MEASURED;
        }
        if (i + 1 == argc || !take_option(argv[i], argv[i + 1], &request)) {
            (void)fail(&failure, 0, "%s %s: unknown option or bad value (see --help)", argv[i],
                       i + 1 == argc ? "" : argv[i + 1]);
            (void)report_failure(PROGRAM, &failure);
            return EXIT_BAD_USAGE;
        }
    }
    return run(&request, &failure) == 0 ? EXIT_MEASURED : (int)report_failure(PROGRAM, &failure);
}
