/* Does one thing with three processes, by its name, or lists what can be done: the name, and how the line begins that
 * must be printed where conflicts are looked for. There is no line behind what is no conflict.
 *
 *     conflicts --list
 *     conflicts NAME */

#include <bsp.h>
#include <stdio.h>
#include <string.h>

#include "named.h"

static int first[8], area[8], value[8];

/* The process, once it has begun. */
static int me;

/* Registers two areas, and ends with a superstep in which act has called something. */
static void around(void (*act)(void))
{
    bsp_begin(3);
    if (bsp_nprocs() != 3)
        bsp_abort("conflicts: this takes 3 processes");
    me = bsp_pid();
    bsp_push_reg(first, sizeof first);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    act();
    bsp_sync();
    bsp_end();
}

static void put(int to, int at, int count) { bsp_put(to, value, area, 4 * at, 4 * count); }
static void hpput(int to, int at, int count) { bsp_hpput(to, value, area, 4 * at, 4 * count); }
static void get(int from, int at, int count) { static int got[8]; bsp_get(from, area, 4 * at, got, 4 * count); }
static void hpget(int from, int at, int count) { static int got[8]; bsp_hpget(from, area, 4 * at, got, 4 * count); }

static void two_puts(void) { if (me < 2) put(2, 2 * me, 3); }
static void put_and_hpput(void) { if (me == 0) put(1, 0, 8); if (me == 2) hpput(1, 7, 1); }
static void hpput_over_get(void) { if (me == 0) hpput(2, 1, 2); if (me == 1) get(2, 2, 4); }
static void hpput_over_hpget(void) { if (me == 1) { hpput(0, 0, 4); hpget(0, 3, 1); } }
static void hpput_over_a_source(void)
{
    if (me == 0) hpput(1, 5, 2);
    if (me == 1) bsp_hpput(2, area + 6, first, 0, 4);
}
static void hpget_over_a_put(void)
{
    if (me == 0) bsp_hpget(1, first, 0, area, 8);
    if (me == 2) put(0, 1, 2);
}
static void at_a_collective(void)
{
    int all[3];
    if (me > 0) put(0, 4, 1);
    bsp_gather(0, &me, all, sizeof me);
}
static void in_a_later_superstep(void)
{
    bsp_sync();
    put(me, 0, 8);
    bsp_sync();
    if (me != 1) put(1, 3, 1);
}
static void two_registrations(void)
{
    bsp_push_reg(area + 2, 8);
    bsp_sync();
    if (me == 0) bsp_put(1, value, area + 2, 4, 4);
    if (me == 2) put(1, 3, 1);
}

static void side_by_side(void) { put(1, me, 1); hpput(1, me + 3, 1); get(1, 6, 2); hpget(1, 6, 2); }
static void put_over_get(void) { get(1, 0, 8); if (me == 2) put(1, 0, 8); }
static void one_process_twice(void) { if (me == 1) { put(0, 0, 4); hpput(0, 2, 4); put(0, 1, 7); } }
static void one_after_the_other(void)
{
    int pid;
    for (pid = 0; pid < 3; pid++) {
        if (me == pid) { put(0, 0, 8); hpput(1, 0, 8); }
        bsp_sync();
    }
}
static void beside_a_collective(void)
{
    int all[3], at;
    put((me + 1) % 3, 0, 8);
    bsp_push_reg(value, sizeof value);
    bsp_gather(0, &me, all, sizeof me);
    for (at = 0; me == 0 && at < 3; at++)
        if (all[at] != at)
            bsp_abort("conflicts: the gather is wrong");
    bsp_put((me + 1) % 3, area, value, 0, 4);
}

static const struct named all[] = {
    { "two_puts", two_puts, "bsp_sync: bytes 8 to 11 of registered area 1 of process 2 are written by bsp_put of process 0 "
      "and written by bsp_put of process 1 in one superstep" },
    { "put_and_hpput", put_and_hpput, "bsp_sync: bytes 28 to 31 of registered area 1 of process 1 are written by bsp_put of "
      "process 0 and written by bsp_hpput of process 2" },
    { "hpput_over_get", hpput_over_get, "bsp_sync: bytes 8 to 11 of registered area 1 of process 2 are written by bsp_hpput "
      "of process 0 and read by bsp_get of process 1" },
    { "hpput_over_hpget", hpput_over_hpget, "bsp_sync: bytes 12 to 15 of registered area 1 of process 0 are written by "
      "bsp_hpput of process 1 and read by bsp_hpget of process 1" },
    { "hpput_over_a_source", hpput_over_a_source, "bsp_sync: bytes 24 to 27 of registered area 1 of process 1 are written "
      "by bsp_hpput of process 0 and read by bsp_hpput of process 1" },
    { "hpget_over_a_put", hpget_over_a_put, "bsp_sync: bytes 4 to 7 of registered area 1 of process 0 are written by "
      "bsp_hpget of process 0 and written by bsp_put of process 2" },
    { "at_a_collective", at_a_collective, "bsp_gather: bytes 16 to 19 of registered area 1 of process 0 are written by "
      "bsp_put of process 1 and written by bsp_put of process 2" },
    { "in_a_later_superstep", in_a_later_superstep, "bsp_sync: bytes 12 to 15 of registered area 1 of process 1 are written "
      "by bsp_put of process 0 and written by bsp_put of process 2" },
    { "two_registrations", two_registrations, "bsp_sync: bytes 4 to 7 of registered area 2 of process 1 are written by "
      "bsp_put of process 0 and written by bsp_put of process 2" },
    { "side_by_side", side_by_side, "" },
    { "put_over_get", put_over_get, "" },
    { "one_process_twice", one_process_twice, "" },
    { "one_after_the_other", one_after_the_other, "" },
    { "beside_a_collective", beside_a_collective, "" },
};

int main(int argc, char **argv)
{
    return do_named(all, sizeof all / sizeof *all, around, argc, argv);
}
