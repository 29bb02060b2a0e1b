/* What the larger programs share: their two arguments, and names for the types of either interface.
 *
 *     PROGRAM [PROCESSES [SIZE]]
 *
 * A program names the procedure with its parallel part to bsp_init, then reads its arguments, then calls that
 * procedure. Only process zero is sure to have read them, so the size is broadcast once the processes exist.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsp.h"

/* `proc` numbers processes, `extent` counts bytes and messages. */
#ifdef BSP_SIZE_T
typedef unsigned int proc;
typedef size_t extent;
#else
typedef int proc;
typedef int extent;
#endif

static int wanted_procs;
static long wanted_size;

/* A number of at least 1, or the end of the program. */
static long read_number(const char *text, const char *meaning)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number < 1) {
        fprintf(stderr, "%s: `%s` is not a number of at least 1\n", meaning, text);
        exit(2);
    }
    return number;
}

static void read_arguments(int argc, char **argv, long size_default)
{
    wanted_procs = argc > 1 ? (int)read_number(argv[1], "PROCESSES") : (int)bsp_nprocs();
    wanted_size = argc > 2 ? read_number(argv[2], "SIZE") : size_default;
}

/* The size that process zero has read. Collective. */
static long shared_size(void)
{
    bsp_bcast(0, &wanted_size, (extent)sizeof wanted_size);
    return wanted_size;
}

/* Memory for `count` items of `bytes` each, all zero; never NULL, even for none. */
static void *room_for(long count, size_t bytes)
{
    void *room = calloc((size_t)(count > 0 ? count : 1), bytes);

    if (room == NULL)
        bsp_abort("room_for: no memory for %ld items of %lu bytes", count, (unsigned long)bytes);
    return room;
}

#endif
