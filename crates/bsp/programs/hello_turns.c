/* The processes say hello in turn: in step i, process i.
 *
 *     hello_turns [PROCESSES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

int main(int argc, char **argv)
{
    int i, turn;

    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    turn = 0;
    bsp_push_reg(&turn, sizeof turn);
    bsp_sync();
    for (i = 0; i < bsp_nprocs(); i++) {
        if (bsp_pid() == i) {
            int next = turn + 1;

            printf("Hello BSP Worldwide from process %d of %d\n", i, bsp_nprocs());
            /* Hand the turn on; the last one hands it back to the first. */
            bsp_put((i + 1) % bsp_nprocs(), &next, &turn, 0, sizeof turn);
        }
        fflush(stdout);
        bsp_sync();
    }
    if (bsp_pid() == 0 && turn != bsp_nprocs())
        bsp_abort("hello_turns: %d turns were taken by %d processes", turn, bsp_nprocs());
    bsp_pop_reg(&turn);
    if (bsp_pid() == 0)
        printf("hello_turns: ok, %d turns were taken\n", turn);
    bsp_end();
    return 0;
}
