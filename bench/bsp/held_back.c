/* Prints the microseconds of a bsp_sync on as many processes as asked for: bench/held_back.sh takes cores away. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

static int processes;

static void spmd(void) {
    bsp_begin(processes);
    enum { BATCH = 64 };
    const double round = 0.3;
    long syncs = 0;
    int goes_on = 1;
    double began = bsp_time(), now = began;
    while (goes_on) {
        for (int i = 0; i < BATCH; i++) {
            bsp_sync();
        }
        syncs += BATCH + 1;
        now = bsp_time();
        /* Process 0 tells the others whether there is time left. */
        int more = now - began < round;
        if (bsp_pid() == 0) {
            for (int to = 0; to < bsp_nprocs(); to++) {
                bsp_send(to, NULL, &more, sizeof more);
            }
        }
        bsp_sync();
        bsp_move(&goes_on, sizeof goes_on);
    }
    if (bsp_pid() == 0) {
        printf("%.4f\n", 1e6 * (now - began) / (double)syncs);
    }
    bsp_end();
}

int main(int argc, char **argv) {
    bsp_init(spmd, argc, argv);
    processes = argc > 1 ? atoi(argv[1]) : 2;
    spmd();
    return 0;
}
