/* The sum of arrays of different lengths, at every process.
 *
 *     sum [PROCESSES [SIZE]]
 *
 * Process i has SIZE + i elements.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

/* Collective. `result` stays as it is while the others read it, so the gets need no buffers. */
static int bsp_sum(int *xs, int nelem)
{
    int *local_sums, i, j, result = 0;

    for (j = 0; j < nelem; j++)
        result += xs[j];
    bsp_push_reg(&result, sizeof(int));
    bsp_sync();

    local_sums = (int *)calloc((size_t)bsp_nprocs(), sizeof(int));
    if (local_sums == NULL)
        bsp_abort("{bsp_sum} no memory for %d int", bsp_nprocs());
    for (i = 0; i < bsp_nprocs(); i++)
        bsp_hpget(i, &result, 0, &local_sums[i], sizeof(int));
    bsp_sync();

    result = 0;
    for (i = 0; i < bsp_nprocs(); i++)
        result += local_sums[i];
    bsp_pop_reg(&result);
    free(local_sums);
    return result;
}

int main(int argc, char **argv)
{
    int i, p, size, count, expected, sum, *xs;

    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    p = bsp_nprocs();
    size = argc > 2 ? atoi(argv[2]) : 100;
    count = size + bsp_pid();
    xs = (int *)calloc((size_t)count + 1, sizeof(int));
    if (xs == NULL)
        bsp_abort("sum: no memory for %d int", count);
    for (i = 0; i < count; i++)
        xs[i] = bsp_pid() + 1;

    expected = 0;
    for (i = 0; i < p; i++)
        expected += (size + i) * (i + 1);
    sum = bsp_sum(xs, count);
    if (sum != expected)
        bsp_abort("sum: process %d has %d in place of %d", bsp_pid(), sum, expected);

    bsp_sync();
    if (bsp_pid() == 0)
        printf("sum: ok, %d at each of %d processes\n", sum, p);
    free(xs);
    bsp_end();
    return 0;
}
