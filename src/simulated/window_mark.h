/*
 * Marks for a simulation of these programs: instructions without effect that tell it the window and
 * the side of a thread. A processor executes them as 8-byte NOPs. Source: Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, NOP: 0F 1F 84 00 and a displacement of 32
 * bits, which is not used as an address.
 */
#ifndef COPYCOST_SIMULATED_WINDOW_MARK_H
#define COPYCOST_SIMULATED_WINDOW_MARK_H

/* The last byte of the displacement; those before it are "cpy". */
enum window_mark {
    MARK_SENDER = 1,   /* this thread sends from now on */
    MARK_RECEIVER = 2, /* this thread receives from now on */
    MARK_WINDOW_BEGIN = 3,
    MARK_WINDOW_END = 4,
};

#if defined(__x86_64__)
#define WINDOW_MARK(mark)                                                                          \
    __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x63, 0x70, 0x79, %c0" : : "i"(mark))
#else
#define WINDOW_MARK(mark) ((void)(mark))
#endif

#endif
