/* The inner product of two vectors that lie cyclically over the processes.
 *
 *     inner_product [PROCESSES [SIZE]]
 *
 * The partial sums are put to everyone and added in the order of the processes, so all have the same bits. bsp_fold
 * must come to the same number, and so must the formula for the sum of squares.
 */
#include <math.h>

#include "program.h"

/* Collective. `x` and `y` are the `count` elements of this process. */
static double inner_product(const double *x, const double *y, long count)
{
    proc s, p = bsp_nprocs();
    double *sums = (double *)room_for((long)p, sizeof(double));
    double sum = 0;
    long i;

    bsp_push_reg(sums, (extent)(p * sizeof(double)));
    bsp_sync();

    for (i = 0; i < count; i++)
        sum += x[i] * y[i];
    for (s = 0; s < p; s++)
        bsp_put(s, &sum, sums, (extent)(bsp_pid() * sizeof(double)), sizeof(double));
    bsp_sync();

    sum = 0;
    for (s = 0; s < p; s++)
        sum += sums[s];
    bsp_pop_reg(sums);
    bsp_sync();
    free(sums);
    return sum;
}

static void add(void *result, const void *left, const void *right, extent nbytes)
{
    double a, b;

    if (nbytes != sizeof(double))
        bsp_abort("inner_product: bsp_fold hands over %lu bytes", (unsigned long)nbytes);
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a += b;
    memcpy(result, &a, sizeof a);
}

/* Whether `sum` is `expected` but for rounding. */
static void check(const char *what, double sum, double expected)
{
    if (fabs(sum - expected) > 1e-11 * fabs(expected))
        bsp_abort("inner_product: %s gives %.17g in place of %.17g", what, sum, expected);
}

static void run(void)
{
    proc s, p;
    long i, n, count;
    double *x, *y, product, mine, folded, of_zero, time;

    bsp_begin((proc)wanted_procs);
    n = shared_size();
    p = bsp_nprocs();
    s = bsp_pid();
    count = (n + (long)p - 1 - (long)s) / (long)p;
    x = (double *)room_for(count, sizeof(double));
    y = (double *)room_for(count, sizeof(double));
    for (i = 0; i < count; i++) {
        x[i] = (double)(i * (long)p + (long)s + 1);
        y[i] = x[i];
    }

    bsp_sync();
    time = bsp_time();
    product = inner_product(x, y, count);
    time = bsp_time() - time;

    check("the formula", product, (double)n * ((double)n + 1) * (2 * (double)n + 1) / 6);
    mine = 0;
    for (i = 0; i < count; i++)
        mine += x[i] * y[i];
    bsp_fold(add, &mine, &folded, sizeof(double));
    check("bsp_fold", folded, product);
    of_zero = product;
    bsp_bcast(0, &of_zero, sizeof(double));
    if (memcmp(&of_zero, &product, sizeof(double)) != 0)
        bsp_abort("inner_product: process %d has other bits than process 0", (int)s);

    bsp_sync();
    if (s == 0)
        printf("inner_product: ok, %ld elements on %d processes make %.15g, in %.6f s\n", n, (int)p, product, time);
    free(x);
    free(y);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 100000);
    run();
    return 0;
}
