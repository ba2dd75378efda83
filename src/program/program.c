#include "program/program.h"

#include <stdio.h>

#include "clock.h"
#include "program/build_info.h"
#include "program/report.h"

static int report(const struct program *program, const struct session *session,
                  struct failure *failure)
{
    struct json json = {.file = stdout};
    json_begin_object(&json, NULL);
    json_uint(&json, "schema_version", RESULT_SCHEMA_VERSION);
    json_string(&json, "program", program->name);
    json_string(&json, program->part_kind, program->part);
    build_info_report(&json);
    report_options(&json, program->role, session->options);
    report_effective(&json, program->role, &session->window.facts);
    report_window(&json, session->options, &session->window);
    report_counts(&json, program->role, session->options, &session->window);
    program->report(&json, session);
    report_process(&json, &session->window);
    report_threads(&json, program->role, &session->crew, &session->window);
    json_end_object(&json);
    const int error = json_finish(&json);
    return error != 0 ? fail(failure, -error, "write to stdout") : 0;
}

static int run(const struct program *program, struct options *options, struct failure *failure)
{
    struct session session;
    int error = session_open(&session, options, failure);
    if (error == 0) {
        const uint64_t deadline_ns = clock_now_ns() + options->io_timeout_ms * NS_PER_MS;
        error = control_read_token(&session.control, deadline_ns, options->token, failure);
    }
    if (error == 0) {
        error = program->connect(&session, failure);
    }
    if (error == 0) {
        error = session_run(&session, program->duty, failure);
    }
    if (error == 0) {
        error = report(program, &session, failure);
    }
    session_close(&session);
    return error;
}

int program_main(const struct program *program, int argc, char **argv)
{
    struct options options;
    struct failure failure = {0};
    if (options_parse(program->role, argc, argv, &options, &failure) != 0) {
        (void)report_failure(program->name, &failure);
        return EXIT_BAD_USAGE;
    }
    if (options.action == ACTION_HELP) {
        (void)printf("%s: %s\n", program->part, program->part_summary);
        options_usage(program->role, program->name, stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_VERSION) {
        (void)printf("%s %s, ", program->name, program->part);
        build_info_print(stdout);
        return EXIT_MEASURED;
    }
    if (options.action == ACTION_RUN && program->check(&options, &failure) != 0) {
        (void)report_failure(program->name, &failure);
        return EXIT_BAD_USAGE;
    }
    if (program->probe != NULL && program->probe(&failure) != 0) {
        (void)blame_host(&failure, 0);
        return (int)report_failure(program->name, &failure);
    }
    if (options.action == ACTION_RUN && run(program, &options, &failure) != 0) {
        return (int)report_failure(program->name, &failure);
    }
    return EXIT_MEASURED;
}
