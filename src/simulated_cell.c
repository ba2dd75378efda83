/*
 * In a QEMU guest whose caches are simulated: runs one sender and, unless there is none, one
 * receiver, as an orchestrator does (session/control.h), and prints their output.
 *
 * It first stops the machine, so that it can be saved; what continues afterwards is a copy that is
 * told what to run, by files of fw_cfg: opt/copycost/cell, lines of a word and its value (see
 * parse_line), opt/copycost/sender and opt/copycost/receiver, the programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "clock.h"
#include "failure.h"
#include "simulated/fw_cfg.h"

#define PROGRAM "simulated_cell"

/* The port of QEMU's device pvpanic (docs/specs/pvpanic), and the value that reports a panic of the
 * guest, upon which QEMU stops the machine if told to (-action panic=pause). */
#define PORT_PVPANIC 0x505
#define PVPANIC_PANICKED 1

/* How long to wait after that [us], more than it takes to arrive; and the instruction that waits, a
 * jump to itself (eb fe). */
#define STOPPED_US 1000
#define JUMP_BYTES 2

#define KALLSYMS "/proc/kallsyms"
#define KALLSYMS_PIECE_BYTES ((size_t)4 << 20)

#define MAX_WORDS 64
#define WORD_BYTES 16
#define LINE_BYTES 128
#define PATH_BYTES 128

struct side {
    const char *name;
    char *words[MAX_WORDS]; /* of its command line; none: this side does not exist */
    size_t n_words;
    pid_t pid; /* 0: not started */
    int control_fd;
    char control_fd_word[WORD_BYTES];
};

struct cell {
    char *text;
    const char *namespace; /* where the sender runs, NULL: in ours */
    uint64_t lead_ns;      /* from the start of traffic to the window */
    uint64_t window_ns;
    struct side sender;
    struct side receiver;
    char listening[LINE_BYTES]; /* what the sender said of its port */
};

/* Reads the kernel's symbols and prints where they lie, for whoever stops us to fetch. */
static int read_symbols(char **symbols, struct failure *failure)
{
    size_t n_bytes = 0;
    size_t room_bytes = 0;
    ssize_t n = 1;
    const int fd = open(KALLSYMS, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n > 0) {
        if (n_bytes == room_bytes) {
            room_bytes += KALLSYMS_PIECE_BYTES;
            char *larger = realloc(*symbols, room_bytes);
            if (larger == NULL) {
                break;
            }
            *symbols = larger;
        }
        n = read(fd, *symbols + n_bytes, room_bytes - n_bytes);
        n_bytes += n > 0 ? (size_t)n : 0;
    }
    if (fd < 0 || n != 0) {
        return fail(failure, errno, KALLSYMS);
    }
    (void)close(fd);
    (void)printf("symbols %" PRIuPTR " %zu\n", (uintptr_t)*symbols, n_bytes);
    return fflush(stdout) == 0 ? 0 : fail(failure, errno, "stdout");
}

/* Continues after the jump at which the signal came. */
static void leave_jump(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += JUMP_BYTES;
}

/*
 * Returns in the copy, where the machine continues. If QEMU's main thread checks while the machine
 * is being stopped, it takes it for idle and advances the clock to the next timer. Whether it does
 * is a matter of timing, so it must make no difference: until a timer interrupts it, this program
 * stays at one instruction and changes nothing. The next timer then finds the same machine at the
 * same time either way.
 */
static int stop_machine(struct failure *failure)
{
    struct sigaction action = {.sa_sigaction = leave_jump, .sa_flags = SA_SIGINFO};
    const struct itimerval soon = {.it_value.tv_usec = STOPPED_US};
    if (ioperm(PORT_PVPANIC, 1, 1) != 0) {
        return fail(failure, errno, "ioperm");
    }
    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &soon, NULL) != 0) {
        return fail(failure, errno, "a timer");
    }
    __asm__ volatile("outb %b0, %w1\n"
                     "0: jmp 0b"
                     :
                     : "a"(PVPANIC_PANICKED), "d"(PORT_PVPANIC)
                     : "memory");
    return 0;
}

static int add_word(struct side *side, char *word, struct failure *failure)
{
    if (side->n_words >= MAX_WORDS - 1) {
        return fail(failure, 0, "%s: more than %d words", side->name, MAX_WORDS - 1);
    }
    side->words[side->n_words++] = word;
    return 0;
}

static int parse_command(struct side *side, char *value, struct failure *failure)
{
    char *rest = NULL;
    int error = add_word(side, (char *)side->name, failure);
    for (char *word = strtok_r(value, " ", &rest); error == 0 && word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        error = add_word(side, word, failure);
    }
    return error;
}

static int parse_line(struct cell *cell, const char *word, char *value, struct failure *failure)
{
    if (strcmp(word, "sender") == 0) {
        return parse_command(&cell->sender, value, failure);
    }
    if (strcmp(word, "receiver") == 0) {
        return parse_command(&cell->receiver, value, failure);
    }
    if (strcmp(word, "namespace") == 0) {
        cell->namespace = value;
        return 0;
    }
    if (strcmp(word, "environment") == 0) {
        return putenv(value) == 0 ? 0 : fail(failure, errno, "putenv");
    }
    char *end = NULL;
    uint64_t *number = strcmp(word, "lead_ns") == 0     ? &cell->lead_ns
                       : strcmp(word, "window_ns") == 0 ? &cell->window_ns
                                                        : NULL;
    errno = 0;
    const uint64_t parsed = strtoull(value, &end, 10);
    if (number == NULL || errno != 0 || end == value || *end != '\0') {
        return fail(failure, 0, "cell: got '%.60s %.60s'", word, value);
    }
    *number = parsed;
    return 0;
}

static int read_cell(struct cell *cell, struct failure *failure)
{
    size_t n_bytes = 0;
    char *rest = NULL;
    int error = fw_cfg_read("opt/copycost/cell", &cell->text, &n_bytes, failure);
    if (error != 0) {
        return error;
    }
    for (char *line = strtok_r(cell->text, "\n", &rest); error == 0 && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = line;
        const char *word = strsep(&value, " ");
        error = value != NULL ? parse_line(cell, word, value, failure)
                              : fail(failure, 0, "cell: got '%.60s'", line);
    }
    return error;
}

/* Writes a program that was passed to us to a file named after its side. */
static int fetch_program(const struct side *side, struct failure *failure)
{
    char name[PATH_BYTES];
    char *content = NULL;
    size_t n_bytes = 0;
    (void)snprintf(name, sizeof(name), "opt/copycost/%s", side->name);
    int error = fw_cfg_read(name, &content, &n_bytes, failure);
    if (error != 0) {
        return error;
    }
    const int fd = open(side->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRWXU);
    if (fd < 0 || write(fd, content, n_bytes) != (ssize_t)n_bytes) {
        error = fail(failure, errno, "write of %s", side->name);
    }
    if (fd >= 0 && close(fd) != 0 && error == 0) {
        error = fail(failure, errno, "close of %s", side->name);
    }
    free(content);
    return error;
}

/* In the child: sends standard output and error to a file each. */
static int redirect(const char *name, const char *suffix, int to_fd)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s.%s", name, suffix);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    return fd < 0 || dup2(fd, to_fd) < 0 ? -1 : 0;
}

/* In the child; returns only on failure. */
static void become(struct side *side, const char *namespace)
{
    if (namespace != NULL) {
        const int fd = open(namespace, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) {
            perror(namespace);
            return;
        }
    }
    if (redirect(side->name, "out", STDOUT_FILENO) == 0 &&
        redirect(side->name, "err", STDERR_FILENO) == 0) {
        (void)execv(side->name, side->words);
    }
    perror(side->name);
}

static int say(const struct side *side, const char *line, struct failure *failure)
{
    const ssize_t length = (ssize_t)strlen(line);
    return side->pid == 0 || send(side->control_fd, line, (size_t)length, MSG_NOSIGNAL) == length
               ? 0
               : fail(failure, errno, "say '%s' to the %s", line, side->name);
}

static int start(struct side *side, const char *namespace, struct failure *failure)
{
    int fds[2];
    int error = fetch_program(side, failure);
    if (error != 0) {
        return error;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) {
        return fail(failure, errno, "socketpair");
    }
    (void)snprintf(side->control_fd_word, sizeof(side->control_fd_word), "%d", fds[1]);
    error = add_word(side, (char *)"--control-fd", failure);
    if (error == 0) {
        error = add_word(side, side->control_fd_word, failure);
    }
    side->pid = error == 0 ? fork() : -1;
    if (side->pid == 0) {
        (void)close(fds[0]);
        become(side, namespace);
        _exit(EXIT_FAILED);
    }
    (void)close(fds[1]);
    side->control_fd = fds[0];
    if (error == 0 && side->pid < 0) {
        error = fail(failure, errno, "fork");
    }
    /* Sender and receiver recognise each other by it; nobody else is here. */
    return error != 0 ? error : say(side, "token 0000000000000000\n", failure);
}

/* Waits for a line that begins with `word`; what else it says goes into `line` too. */
static int expect(const struct side *side, const char *word, char *line, struct failure *failure)
{
    size_t length = 0;
    while (length < LINE_BYTES - 1 && read(side->control_fd, line + length, 1) == 1 &&
           line[length] != '\n') {
        length++;
    }
    line[length] = '\0';
    return strncmp(line, word, strlen(word)) == 0
               ? 0
               : fail(failure, 0, "the %s said '%s', expected '%s'", side->name, line, word);
}

/* Both if there are two, the receiver first: traffic begins once the sender has read it. */
static int say_to_both(const struct cell *cell, const char *line, struct failure *failure)
{
    const int error = say(&cell->receiver, line, failure);
    return error != 0 ? error : say(&cell->sender, line, failure);
}

static int await_both(const struct cell *cell, const char *word, struct failure *failure)
{
    char line[LINE_BYTES];
    const int error = expect(&cell->sender, word, line, failure);
    return error != 0 || cell->receiver.pid == 0 ? error
                                                 : expect(&cell->receiver, word, line, failure);
}

static int start_receiver(struct cell *cell, char *port, struct failure *failure)
{
    char *words[] = {(char *)"--port", port};
    int error = 0;
    for (size_t i = 0; error == 0 && i < sizeof(words) / sizeof(words[0]); i++) {
        error = add_word(&cell->receiver, words[i], failure);
    }
    return error != 0 ? error : start(&cell->receiver, NULL, failure);
}

static int converse(struct cell *cell, struct failure *failure)
{
    static const char LISTENING[] = "listening ";
    char window[LINE_BYTES];
    int error = start(&cell->sender, cell->namespace, failure);
    if (error == 0) {
        error = expect(&cell->sender, LISTENING, cell->listening, failure);
    }
    if (error == 0 && cell->receiver.n_words > 0) {
        error = start_receiver(cell, cell->listening + strlen(LISTENING), failure);
    }
    if (error == 0) {
        error = await_both(cell, "ready", failure);
    }
    const uint64_t start_ns = clock_now_ns() + cell->lead_ns;
    (void)snprintf(window, sizeof(window), "window %" PRIu64 " %" PRIu64 "\n", start_ns,
                   start_ns + cell->window_ns);
    if (error == 0) {
        error = say_to_both(cell, window, failure);
    }
    if (error == 0) {
        error = await_both(cell, "measured", failure);
    }
    return error != 0 ? error : say_to_both(cell, "stop\n", failure);
}

static void hang_up(const struct side *side)
{
    if (side->pid > 0) {
        (void)close(side->control_fd);
    }
}

static void print_file(const struct side *side, const char *suffix)
{
    char path[PATH_BYTES];
    int last = '\n';
    (void)snprintf(path, sizeof(path), "%s.%s", side->name, suffix);
    FILE *file = fopen(path, "re");
    for (int c = file != NULL ? fgetc(file) : EOF; c != EOF; c = fgetc(file)) {
        if (last == '\n') {
            (void)printf("%s: ", path);
        }
        (void)putchar(c);
        last = c;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/*
 * Waits for a side to end and prints its output. Returns its exit code, EXIT_FAILED for a signal.
 */
static int finish(const struct side *side)
{
    int status = 0;
    if (side->pid <= 0) {
        return EXIT_MEASURED;
    }
    (void)waitpid(side->pid, &status, 0);
    print_file(side, "err");
    print_file(side, "out");
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

int main(void)
{
    struct failure failure = {0};
    struct cell cell = {.sender = {.name = "sender"}, .receiver = {.name = "receiver"}};
    char *symbols = NULL;
    int error = read_symbols(&symbols, &failure);
    if (error == 0) {
        error = stop_machine(&failure);
    }
    free(symbols);
    if (error == 0) {
        error = read_cell(&cell, &failure);
    }
    if (error == 0) {
        error = converse(&cell, &failure);
    }
    if (error != 0) { /* whoever still waits for us is told to go by the end of the control line */
        hang_up(&cell.sender);
        hang_up(&cell.receiver);
    }
    const int sender_code = finish(&cell.sender);
    const int receiver_code = finish(&cell.receiver);
    free(cell.text);
    if (error != 0) {
        return (int)report_failure(PROGRAM, &failure);
    }
    if (sender_code != 0 || receiver_code != 0) {
        return sender_code != 0 ? sender_code : receiver_code;
    }
    (void)printf("the cell ended\n");
    (void)fflush(stdout);
    (void)stop_machine(&failure); /* faster than switching it off */
    return EXIT_MEASURED;
}
