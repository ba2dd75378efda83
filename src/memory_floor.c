/*
 * Measures the cost of copying alone: memcpy over working sets from the first-level cache to
 * memory. A send that copies cannot cost less.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "failure.h"
#include "memory.h"
#include "program/build_info.h"
#include "program/json.h"
#include "program/size_text.h"

#define PROGRAM "memory_floor"
#define SCHEMA_VERSION 1

/* Source and destination together. */
#define MIN_WORKING_SET_BYTES ((size_t)16 << 10)
#define DEFAULT_MAX_BYTES ((size_t)256 << 20)
#define MAX_MAX_BYTES ((size_t)1 << 40)

#define DEFAULT_REPETITIONS 5
#define MAX_REPETITIONS 1000
#define MAX_CPU 1023
#define ANY_CPU SIZE_MAX

/*
 * One memcpy copies at most this much, as a sender copies message by message. For hundreds of
 * megabytes at once the C library uses non-temporal stores, which is something else.
 */
#define PIECE_BYTES ((size_t)64 << 10)

/* A repetition copies for at least this long, and the whole set at least once. */
#define MIN_DURATION_NS (8 * NS_PER_MS)

/* Reading the CPU time is a system call: at least this much is copied between two readings, which
 * takes a hundred times as long. */
#define MIN_BYTES_PER_READING ((size_t)8 << 20)

#define FILLER 0x5a

struct request {
    size_t max_bytes;
    size_t n_repetitions;
    size_t cpu; /* or ANY_CPU */
};

struct memory {
    char *from;
    char *to;
};

/* Copies `half_bytes` once. */
static void copy_once(const struct memory *memory, size_t half_bytes)
{
    for (size_t done = 0; done < half_bytes; done += PIECE_BYTES) {
        const size_t left_bytes = half_bytes - done;
        memcpy(memory->to + done, memory->from + done,
               left_bytes < PIECE_BYTES ? left_bytes : PIECE_BYTES);
    }
    /* Makes the compiler assume that the copy is read; otherwise it would drop it. */
    __asm__ volatile("" : : "r"(memory->to) : "memory");
}

/* One repetition; returns the CPU time per byte copied [ns]. The cost of a send is CPU time too,
 * which excludes the time that other programs had the CPU. */
static double measure(const struct memory *memory, size_t half_bytes)
{
    uint64_t copied_bytes = 0;
    uint64_t elapsed_ns = 0;
    copy_once(memory, half_bytes); /* into the caches, as far as they reach */
    const uint64_t began_ns = clock_process_cpu_ns();
    while (elapsed_ns < MIN_DURATION_NS) {
        for (size_t n_bytes = 0; n_bytes < MIN_BYTES_PER_READING; n_bytes += half_bytes) {
            copy_once(memory, half_bytes);
            copied_bytes += half_bytes;
        }
        elapsed_ns = clock_process_cpu_ns() - began_ns;
    }
    return (double)elapsed_ns / (double)copied_bytes;
}

/* How many working sets there are, each twice the one before. */
static size_t count_points(const struct request *request)
{
    size_t n_points = 1; /* max_bytes is MIN_WORKING_SET_BYTES at least */
    for (size_t bytes = 2 * MIN_WORKING_SET_BYTES; bytes <= request->max_bytes; bytes *= 2) {
        n_points++;
    }
    return n_points;
}

static int report(const struct request *request, const double *ns_per_byte, struct failure *failure)
{
    struct json json = {.file = stdout};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", SCHEMA_VERSION);
    json_string(&json, "program", PROGRAM);
    build_info_report(&json);
    json_begin_object(&json, "options");
    json_uint(&json, "max_bytes", request->max_bytes);
    json_uint(&json, "repetitions", request->n_repetitions);
    if (request->cpu == ANY_CPU) {
        json_null(&json, "cpu");
    } else {
        json_uint(&json, "cpu", request->cpu);
    }
    json_end_object(&json);
    json_begin_array(&json, "points");
    for (size_t i = 0; i < count_points(request); i++) {
        json_begin_object(&json, NULL);
        json_uint(&json, "bytes", MIN_WORKING_SET_BYTES << i);
        json_begin_array(&json, "ns_per_byte");
        for (size_t j = 0; j < request->n_repetitions; j++) {
            json_real(&json, NULL, ns_per_byte[i * request->n_repetitions + j]);
        }
        json_end_array(&json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

/* Each repetition goes through all working sets, so that drift affects all alike. */
static int measure_all(const struct request *request, struct failure *failure)
{
    const size_t half_bytes = request->max_bytes / 2;
    const size_t n_points = count_points(request);
    const struct memory memory = {
        .from = memory_allocate_aligned(half_bytes),
        .to = memory_allocate_aligned(half_bytes),
    };
    double *ns_per_byte = calloc(n_points * request->n_repetitions, sizeof(*ns_per_byte));
    int error = 0;
    if (memory.from == NULL || memory.to == NULL || ns_per_byte == NULL) {
        error = fail(failure, ENOMEM, "a working set of %zu bytes", request->max_bytes);
    } else {
        memset(memory.from, FILLER, half_bytes);
        memset(memory.to, FILLER, half_bytes);
        for (size_t j = 0; j < request->n_repetitions; j++) {
            for (size_t i = 0; i < n_points; i++) {
                ns_per_byte[i * request->n_repetitions + j] =
                    measure(&memory, (MIN_WORKING_SET_BYTES << i) / 2);
            }
        }
        error = report(request, ns_per_byte, failure);
    }
    free(memory.from);
    free(memory.to);
    free(ns_per_byte);
    return error;
}

/* Before any memory is touched: Linux allocates it on the node of the CPU that touches it first. */
static int pin(size_t cpu, struct failure *failure)
{
    cpu_set_t set;
    if (cpu == ANY_CPU) {
        return 0;
    }
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0
               ? 0
               : fail(failure, errno, "sched_setaffinity to CPU %zu", cpu);
}

static void print_usage(FILE *to)
{
    (void)fputs("usage: " PROGRAM " OPTIONS\n"
                "  --max-bytes N    largest working set, source and destination together [bytes];\n"
                "                   16384..2^40, default 268435456\n"
                "  --repetitions N  values per working set; 1..1000, default 5\n"
                "  --cpu N          CPU to run on; 0..1023, default: any\n"
                "  --version        print source digest, compiler and flags\n"
                "  --help           print this text\n"
                "exit codes: 0 measured, 1 failed, 2 bad usage\n",
                to);
}

/* Reads one option and its value. Returns whether they are right. */
static bool take_option(const char *name, const char *text, struct request *request)
{
    if (strcmp(name, "--max-bytes") == 0) {
        return size_text_parse(text, MIN_WORKING_SET_BYTES, MAX_MAX_BYTES, &request->max_bytes);
    }
    if (strcmp(name, "--repetitions") == 0) {
        return size_text_parse(text, 1, MAX_REPETITIONS, &request->n_repetitions);
    }
    return strcmp(name, "--cpu") == 0 && size_text_parse(text, 0, MAX_CPU, &request->cpu);
}

int main(int argc, char **argv)
{
    struct failure failure = {0};
    struct request request = {DEFAULT_MAX_BYTES, DEFAULT_REPETITIONS, ANY_CPU};
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
            report_failure(PROGRAM, &failure);
            return EXIT_BAD_USAGE;
        }
    }
    if (pin(request.cpu, &failure) != 0 || measure_all(&request, &failure) != 0) {
        report_failure(PROGRAM, &failure);
        return EXIT_FAILED;
    }
    return EXIT_MEASURED;
}
