/* As many processes as there are, each of which says hello, in any order.
 *
 *     hello [PROCESSES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

/* Every process marks its place at process zero, which finds a place that nobody or that somebody else has marked. */
static void check_everyone(void)
{
    int i, p = bsp_nprocs(), mark = bsp_pid() + 1;
    int *marks = (int *)calloc((size_t)p, sizeof(int));

    if (marks == NULL)
        bsp_abort("hello: no memory for %d int", p);
    bsp_push_reg(marks, p * (int)sizeof(int));
    bsp_sync();

    bsp_put(0, &mark, marks, bsp_pid() * (int)sizeof(int), sizeof(int));
    bsp_sync();

    if (bsp_pid() == 0)
        for (i = 0; i < p; i++)
            if (marks[i] != i + 1)
                bsp_abort("hello: the place of process %d holds %d", i, marks[i]);
    bsp_pop_reg(marks);
    bsp_sync();
    free(marks);
}

int main(int argc, char **argv)
{
    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    printf("Hello BSP Worldwide from process %d of %d\n", bsp_pid(), bsp_nprocs());
    fflush(stdout);
    check_everyone();
    if (bsp_pid() == 0)
        printf("hello: ok, each of %d processes was there\n", bsp_nprocs());
    bsp_end();
    return 0;
}
