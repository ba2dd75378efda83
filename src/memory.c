#include "memory.h"

#include <stdlib.h>
#include <unistd.h>

size_t memory_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE); /* always known on Linux */
}

size_t memory_whole_pages(size_t n_bytes)
{
    const size_t page_bytes = memory_page_bytes();
    return (n_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void *memory_allocate_aligned(size_t n_bytes)
{
    void *memory = NULL;
    return posix_memalign(&memory, memory_page_bytes(), n_bytes) == 0 ? memory : NULL;
}
