#include "connections/socket_option.h"

#include <errno.h>
#include <unistd.h>

int socket_option_set(int fd, struct socket_option option, const void *value, socklen_t n_bytes,
                      struct failure *failure)
{
    return setsockopt(fd, option.level, option.number, value, n_bytes) == 0
               ? 0
               : fail(failure, errno, "setsockopt(%s) on fd %d", option.name, fd);
}

int socket_option_set_int(int fd, struct socket_option option, int value, struct failure *failure)
{
    return socket_option_set(fd, option, &value, sizeof(value), failure);
}

int socket_option_get(int fd, struct socket_option option, void *value, socklen_t n_bytes,
                      struct failure *failure)
{
    return getsockopt(fd, option.level, option.number, value, &n_bytes) == 0
               ? 0
               : fail(failure, errno, "getsockopt(%s) on fd %d", option.name, fd);
}

int socket_option_probe(int type, struct socket_option option, int value, const char *needed_linux,
                        struct failure *failure)
{
    int error = 0;
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fail(failure, errno, "socket");
    }
    if (setsockopt(fd, option.level, option.number, &value, sizeof(value)) != 0) {
        error = fail(failure, errno, "setsockopt(%s) on fd %d; it needs Linux %s", option.name, fd,
                     needed_linux);
    }
    if (close(fd) != 0 && error == 0) {
        error = fail(failure, errno, "close of fd %d", fd);
    }
    return error;
}
