/* Concurrent assignment to an array that lies in blocks over the processes: by puts, then by gets.
 *
 *     arrays [PROCESSES [SIZE]]
 *
 * The size is rounded up to a multiple of the number of processes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

/* For all i: xs[xs[i]] := xs[i]. Collective. */
static void put_array(int *xs, int n)
{
    int i, pid, local_idx, n_over_p = n / bsp_nprocs();

    if (n % bsp_nprocs() != 0)
        bsp_abort("{put_array} n=%d not divisible by p=%d", n, bsp_nprocs());
    bsp_push_reg(xs, n_over_p * (int)sizeof(int));
    bsp_sync();

    for (i = 0; i < n_over_p; i++) {
        pid = xs[i] / n_over_p;
        local_idx = xs[i] % n_over_p;
        bsp_put(pid, &xs[i], xs, local_idx * (int)sizeof(int), sizeof(int));
    }
    bsp_sync();
    bsp_pop_reg(xs);
}

/* For all i: xs[i] := xs[xs[i]]. Collective. */
static void get_array(int *xs, int n)
{
    int i, pid, local_idx, n_over_p = n / bsp_nprocs();

    if (n % bsp_nprocs() != 0)
        bsp_abort("{get_array} n=%d not divisible by p=%d", n, bsp_nprocs());
    bsp_push_reg(xs, n_over_p * (int)sizeof(int));
    bsp_sync();

    for (i = 0; i < n_over_p; i++) {
        pid = xs[i] / n_over_p;
        local_idx = xs[i] % n_over_p;
        bsp_get(pid, xs, local_idx * (int)sizeof(int), &xs[i], sizeof(int));
    }
    bsp_sync();
    bsp_pop_reg(xs);
}

/* A permutation of 0 to n - 1: i is moved on by a third of n, and the whole is mirrored. */
static int place(int i, int n)
{
    return n - 1 - (i + n / 3) % n;
}

int main(int argc, char **argv)
{
    int i, n, p, first, share, *xs;

    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    p = bsp_nprocs();
    share = ((argc > 2 ? atoi(argv[2]) : 1000) + p - 1) / p;
    n = share * p;
    first = share * bsp_pid();
    xs = (int *)calloc((size_t)share, sizeof(int));
    if (xs == NULL)
        bsp_abort("arrays: no memory for %d int", share);

    /* A permutation, so that each element is written once: afterwards xs[i] = i. */
    for (i = 0; i < share; i++)
        xs[i] = place(first + i, n);
    put_array(xs, n);
    for (i = 0; i < share; i++)
        if (xs[i] != first + i)
            bsp_abort("arrays: put_array left %d at %d", xs[i], first + i);

    /* The permutation applied twice. */
    for (i = 0; i < share; i++)
        xs[i] = place(first + i, n);
    get_array(xs, n);
    for (i = 0; i < share; i++)
        if (xs[i] != place(place(first + i, n), n))
            bsp_abort("arrays: get_array left %d at %d", xs[i], first + i);

    bsp_sync();
    if (bsp_pid() == 0)
        printf("arrays: ok, %d elements put and %d got\n", n, n);
    free(xs);
    bsp_end();
    return 0;
}
