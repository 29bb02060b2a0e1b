/* Process i gets the value of process p - 1 - i.
 *
 *     reverse [PROCESSES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

/* Collective. The put reads x when it is called and writes x at the end of the step, so one variable is enough. */
static int reverse(int x)
{
    bsp_push_reg(&x, sizeof(int));
    bsp_sync();

    bsp_put(bsp_nprocs() - bsp_pid() - 1, &x, &x, 0, sizeof(int));
    bsp_sync();
    bsp_pop_reg(&x);
    return x;
}

int main(int argc, char **argv)
{
    int once, twice, mine, theirs;

    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    mine = 1000 + 7 * bsp_pid();
    theirs = 1000 + 7 * (bsp_nprocs() - bsp_pid() - 1);
    once = reverse(mine);
    if (once != theirs)
        bsp_abort("reverse: process %d has %d in place of %d", bsp_pid(), once, theirs);
    twice = reverse(once);
    if (twice != mine)
        bsp_abort("reverse: twice gave process %d %d in place of %d", bsp_pid(), twice, mine);
    bsp_sync();
    if (bsp_pid() == 0)
        printf("reverse: ok, %d values reversed, and back again\n", bsp_nprocs());
    bsp_end();
    return 0;
}
