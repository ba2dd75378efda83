#include "program/report.h"

/* Which counters each program reports, and under which name. */
struct count_name {
    enum counter which;
    enum program_role role;
    const char *key;
};

static const struct count_name COUNT_NAMES[] = {
    {COUNT_BYTES, ROLE_BOTH, "bytes"},
    {COUNT_MESSAGES, ROLE_SENDER, "messages"},
    {COUNT_DATA_CALLS, ROLE_SENDER, "send_calls"},
    {COUNT_DATA_CALLS, ROLE_RECEIVER, "recv_calls"},
    {COUNT_POLL_CALLS, ROLE_SENDER, "poll_calls"},
    {COUNT_ERRQUEUE_CALLS, ROLE_SENDER, "errqueue_calls"},
    {COUNT_OTHER_CALLS, ROLE_SENDER, "other_calls"},
    {COUNT_SHORT_WRITES, ROLE_SENDER, "short_writes"},
    {COUNT_ENOBUFS, ROLE_SENDER, "enobufs_count"},
    {COUNT_SLOT_WAITS, ROLE_SENDER, "slot_waits"},
    {COUNT_MAPPED_BYTES, ROLE_RECEIVER, "mapped_bytes"},
    {COUNT_EINTR, ROLE_BOTH, "eintr_count"},
};

void report_options(struct json *json, enum program_role role, const struct options *options)
{
    json_begin_object(json, "options");
    json_uint(json, "n_threads", options->n_threads);
    json_uint(json, "msg_bytes", options->msg_bytes);
    json_string(json, "transport", transport_name(options->transport));
    json_string(json, "mode", mode_name(options->mode));
    if (role == ROLE_SENDER) {
        json_bool(json, "sink", options->sink);
        json_string(json, "bind_address", options->bind_address);
        json_uint(json, "ring_bytes", options->ring_bytes);
        json_bool(json, "fresh", options->fresh);
        json_uint(json, "batch", options->batch);
        json_uint(json, "interval_ns", options->interval_ns);
        json_uint(json, "rate_bytes_per_s", options->rate_bytes_per_s);
    }
    json_string(json, "connect_address", options->connect_address);
    json_uint(json, "port", options->port);
    json_begin_array(json, "cpus");
    for (size_t i = 0; i < options->n_cpus; i++) {
        json_int(json, NULL, options->cpus[i]);
    }
    json_end_array(json);
    json_string(json, "congestion", options->congestion);
    json_string(json, "nodelay", nodelay_name(options->nodelay));
    json_uint(json, "send_buffer_bytes", options->sndbuf_bytes);
    json_uint(json, "receive_buffer_bytes", options->rcvbuf_bytes);
    if (role == ROLE_RECEIVER) {
        json_uint(json, "receive_lowat_bytes", options->receive_lowat_bytes);
        json_uint(json, "read_bytes", options->read_bytes);
    }
    json_uint(json, "io_timeout_ms", options->io_timeout_ms);
    json_bool(json, "verify", options->verify);
    json_bool(json, "perf", options->perf_control_fd != NO_FD);
    json_end_object(json);
}

void report_effective(struct json *json, enum program_role role, const struct socket_facts *facts)
{
    json_begin_object(json, "effective");
    json_string(json, "congestion_control", facts->is_stream ? facts->congestion : NULL);
    json_int(json, "send_buffer_bytes", facts->send_buffer_bytes);
    json_int(json, "receive_buffer_bytes", facts->receive_buffer_bytes);
    json_int(json, "receive_lowat_bytes", facts->receive_lowat_bytes);
    if (facts->is_stream) {
        json_bool(json, "tcp_nodelay", facts->nodelay);
        json_int(json, "mss_bytes", facts->mss_bytes);
    } else {
        json_null(json, "tcp_nodelay");
        json_null(json, "mss_bytes");
    }
    if (role == ROLE_SENDER) {
        json_bool(json, "zero_copy", facts->zero_copy);
    }
    json_end_object(json);
}

void report_window(struct json *json, const struct options *options, const struct window *window)
{
    json_begin_object(json, "window");
    json_uint(json, "planned_start_ns", window->planned_start_ns);
    json_uint(json, "planned_end_ns", window->planned_end_ns);
    json_uint(json, "start_ns", window->start.at_ns);
    json_uint(json, "half_ns", window->half.at_ns);
    json_uint(json, "end_ns", window->end.at_ns);
    if (options->perf_control_fd != NO_FD) {
        json_uint(json, "perf_enable_ns", window->perf_enable_ns);
        json_uint(json, "perf_disable_ns", window->perf_disable_ns);
    } else {
        json_null(json, "perf_enable_ns");
        json_null(json, "perf_disable_ns");
    }
    json_end_object(json);
}

/* A counter; for a receiver all calls, since it receives by waiting and answering too. */
static uint64_t sum_counts(const struct counter_values *values, const struct count_name *name)
{
    uint64_t n = values->value[name->which];
    if (name->which == COUNT_DATA_CALLS && name->role == ROLE_RECEIVER) {
        n += values->value[COUNT_POLL_CALLS] + values->value[COUNT_OTHER_CALLS];
    }
    return n;
}

/* Every datagram is one message; one that the kernel did not take whole is an error. */
static uint64_t count_datagrams(const struct options *options, uint64_t n_bytes)
{
    return options->transport == TRANSPORT_DATAGRAM ? n_bytes / options->msg_bytes : 0;
}

void report_counts(struct json *json, enum program_role role, const struct options *options,
                   const struct window *window)
{
    const size_t n_names = sizeof(COUNT_NAMES) / sizeof(COUNT_NAMES[0]);
    json_begin_object(json, "in_window");
    for (size_t i = 0; i < n_names; i++) {
        if ((COUNT_NAMES[i].role & role) != 0) {
            json_uint(json, COUNT_NAMES[i].key,
                      sum_counts(&window->end.sum, &COUNT_NAMES[i]) -
                          sum_counts(&window->start.sum, &COUNT_NAMES[i]));
        }
    }
    json_uint(json, "datagrams", count_datagrams(options, window_growth(window, COUNT_BYTES)));
    json_uint(json, "first_half_bytes",
              window->half.sum.value[COUNT_BYTES] - window->start.sum.value[COUNT_BYTES]);
    json_end_object(json);
    json_begin_object(json, "total");
    for (size_t i = 0; i < n_names; i++) {
        if ((COUNT_NAMES[i].role & role) != 0) {
            json_uint(json, COUNT_NAMES[i].key, sum_counts(&window->total.sum, &COUNT_NAMES[i]));
        }
    }
    json_uint(json, "datagrams", count_datagrams(options, window->total.sum.value[COUNT_BYTES]));
    json_end_object(json);
}

void report_process(struct json *json, const struct window *window)
{
    const struct snapshot *start = &window->start;
    const struct snapshot *end = &window->end;
    json_begin_object(json, "process");
    json_uint(json, "cpu_ns", end->cpu_ns - start->cpu_ns);
    json_uint(json, "user_ns", end->user_ns - start->user_ns);
    json_uint(json, "system_ns", end->system_ns - start->system_ns);
    json_uint(json, "voluntary_switches", end->voluntary_switches - start->voluntary_switches);
    json_uint(json, "involuntary_switches",
              end->involuntary_switches - start->involuntary_switches);
    json_uint(json, "minor_faults", end->minor_faults - start->minor_faults);
    json_uint(json, "major_faults", end->major_faults - start->major_faults);
    json_end_object(json);
    if (!window->facts.is_stream) {
        json_null(json, "tcp");
        return;
    }
    json_begin_object(json, "tcp");
    json_uint(json, "retransmits", window->retransmits_after - window->retransmits_before);
    json_end_object(json);
}

void report_threads(struct json *json, enum program_role role, const struct crew *crew,
                    const struct window *window)
{
    json_begin_array(json, "threads");
    for (size_t i = 0; i < crew->n_workers; i++) {
        const uint64_t *start = window->start.per_worker[i].value;
        const uint64_t *end = window->end.per_worker[i].value;
        json_begin_object(json, NULL);
        if (role == ROLE_SENDER) {
            json_uint(json, "messages", end[COUNT_MESSAGES] - start[COUNT_MESSAGES]);
        }
        json_uint(json, "bytes", end[COUNT_BYTES] - start[COUNT_BYTES]);
        json_int(json, "cpu_start", crew->workers[i].cpu_start);
        json_int(json, "cpu_end", crew->workers[i].cpu_end);
        json_end_object(json);
    }
    json_end_array(json);
}
