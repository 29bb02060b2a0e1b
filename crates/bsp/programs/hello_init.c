/* One process starts, reads from standard input how many there shall be, and only then are there so many.
 *
 *     echo 4 | hello_init
 *     hello_init PROCESSES
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

static int nprocs; /* known to process zero alone */

static void spmd_part(void)
{
    int wanted;

    bsp_begin(nprocs);
    printf("Hello BSP Worldwide from process %d of %d\n", bsp_pid(), bsp_nprocs());
    fflush(stdout);

    /* The others learn from process zero what was asked for. */
    wanted = bsp_pid() == 0 ? nprocs : -1;
    bsp_push_reg(&wanted, sizeof wanted);
    bsp_sync();
    if (bsp_pid() != 0)
        bsp_get(0, &wanted, 0, &wanted, sizeof wanted);
    bsp_sync();
    if (bsp_nprocs() < 1 || bsp_nprocs() > wanted)
        bsp_abort("hello_init: there are %d processes, at most %d were asked for", bsp_nprocs(), wanted);
    bsp_pop_reg(&wanted);
    bsp_end();
}

static int read_integer(void)
{
    int number;

    if (scanf("%d", &number) != 1 || number < 1) {
        fprintf(stderr, "hello_init: standard input has no number of processes\n");
        exit(2);
    }
    return number;
}

int main(int argc, char **argv)
{
    bsp_init(spmd_part, argc, argv);
    nprocs = argc > 1 ? atoi(argv[1]) : read_integer();
    spmd_part();
    printf("hello_init: ok, %d processes asked for, and one goes on alone\n", nprocs);
    return 0;
}
