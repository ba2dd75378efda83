#include "splice/pages.h"

#include <errno.h>
#include <sys/mman.h>

#include "memory.h"

int pages_allocate(struct pages *pages, struct stream *stream)
{
    const size_t n_bytes = memory_whole_pages(stream->msg_bytes);
    void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        *pages = (struct pages){0};
        return fail(stream->failure, errno, "%s: mmap of %zu bytes", the_strategy.name, n_bytes);
    }
    *pages = (struct pages){.memory = memory, .n_bytes = n_bytes};
    return 0;
}

void pages_free(struct pages *pages)
{
    if (pages->memory != NULL) {
        (void)munmap(pages->memory, pages->n_bytes); /* fails only if it was never mapped */
    }
    *pages = (struct pages){0};
}

int pages_give_up(const struct pages *pages, struct stream *stream)
{
    count(stream->counters, COUNT_OTHER_CALLS, 1);
    if (madvise(pages->memory, pages->n_bytes, MADV_DONTNEED) != 0) {
        return fail(stream->failure, errno, "%s: madvise(MADV_DONTNEED) of %zu bytes",
                    the_strategy.name, pages->n_bytes);
    }
    return 0;
}
