/* Does one thing wrong, by its name, or lists what can be done wrong: the name, and how the line begins that must be
 * printed.
 *
 *     misuse --list
 *     misuse NAME */

#define _DEFAULT_SOURCE
#include <bsp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "named.h"

static int area[4], value = 1;

static void begin(void)
{
    bsp_begin(2);
    if (bsp_nprocs() != 2)
        bsp_abort("misuse: this takes 2 processes");
}

/* Begins and registers. */
static void set_up(void)
{
    begin();
    bsp_push_reg(area, sizeof area);
    bsp_sync();
}

/* What must not be reached. */
static void too_far(void)
{
    bsp_sync();
    bsp_sync();
    bsp_end();
    printf("nothing was noticed\n");
}

static void nothing(void) {}
static void only_begin(void) { begin(); }

static void begin_twice(void) { begin(); bsp_begin(2); }
static void begin_zero(void) { bsp_begin(0); }
static void begin_negative(void) { bsp_begin(-3); }
static void init_null(void) { bsp_init(NULL, 0, NULL); }
static void init_without_begin(void) { bsp_init(nothing, 0, NULL); }
static void init_twice(void) { bsp_init(only_begin, 0, NULL); bsp_init(only_begin, 0, NULL); }
static void init_after_begin(void) { begin(); bsp_init(nothing, 0, NULL); }
static void init_without_end(void) { bsp_init(only_begin, 0, NULL); only_begin(); }
static void end_without_begin(void) { bsp_end(); }
static void end_twice(void) { begin(); bsp_end(); bsp_end(); }
static void return_without_end(void) { begin(); }
static void exit_without_end(void) { begin(); exit(0); }
static void one_exits(void) { begin(); if (bsp_pid() == 1) exit(0); too_far(); }
static void one_exits_at_once(void) { begin(); if (bsp_pid() == 1) _exit(0); too_far(); }
static void one_is_killed(void) { begin(); if (bsp_pid() == 1) kill(getpid(), SIGKILL); too_far(); }
static void one_is_killed_while_another_computes(void)
{
    begin();
    if (bsp_pid() == 1)
        kill(getpid(), SIGKILL);
    for (;;)
        value++;
}
static void one_uses_memory_that_is_not_there(void)
{
    begin();
    if (bsp_pid() == 1)
        *(volatile int *)8 = 1;
    too_far();
}
static void put_before_begin(void) { bsp_put(0, &value, area, 0, 4); }
static void sync_before_begin(void) { bsp_sync(); }
static void pid_before_begin(void) { bsp_pid(); }
static void time_before_begin(void) { bsp_time(); }
static void sync_after_end(void) { begin(); bsp_end(); bsp_sync(); }
static void one_ends_and_one_syncs(void) { begin(); if (bsp_pid() == 0) bsp_end(); else too_far(); }
static void abort_before_begin(void) { bsp_abort("gave up at %d", 7); }
static void one_aborts(void) { begin(); if (bsp_pid() == 1) bsp_abort("%s has %d of %.1f", "it", 3, 4.5); too_far(); }
static void one_aborts_while_another_computes(void)
{
    begin();
    if (bsp_pid() == 1)
        bsp_abort("enough");
    for (;;)
        value++;
}
static void all_abort(void) { begin(); bsp_abort("all give up"); }
static void abort_with_null(void) { const char *volatile none = NULL; begin(); bsp_abort(none); }
static void abort_that_stores(void) { const char *volatile format = "stored %n"; begin(); bsp_abort(format, &value); }
static void abort_with_too_few(void)
{
    const char *volatile format = "%d%d%d%d%d%d%d%d%d%s%s%s%s%s%s%s%s%s%s%s";
    begin();
    bsp_abort(format, 1);
}

static void *sync_there(void *nothing)
{
    bsp_sync();
    return nothing;
}
static void another_thread_calls(void)
{
    pthread_t thread;
    begin();
    pthread_create(&thread, NULL, sync_there, NULL);
    pthread_join(thread, NULL);
    too_far();
}

static void *linger(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}
static void thread_ends(int rank)
{
    pthread_t thread;
    begin();
    if (bsp_pid() == rank) {
        pthread_create(&thread, NULL, linger, NULL);
        pthread_exit(NULL);
    }
    too_far();
}
static void the_thread_of_process_0_ends(void) { thread_ends(0); }
static void the_thread_of_process_1_ends(void) { thread_ends(1); }

static void push_by_one(void) { begin(); if (bsp_pid() == 1) bsp_push_reg(area, 4); too_far(); }
static void pop_by_one(void) { set_up(); if (bsp_pid() == 1) bsp_pop_reg(area); too_far(); }
static void pop_of_different_slots(void)
{
    set_up();
    bsp_push_reg(bsp_pid() == 0 ? (void *)area : (void *)&value, 4);
    bsp_sync();
    bsp_pop_reg(area);
    too_far();
}
static void pop_of_nothing(void) { begin(); bsp_pop_reg(area); too_far(); }
static void pop_twice(void) { set_up(); bsp_pop_reg(area); bsp_pop_reg(area); too_far(); }
/* Process 1 has no NULL beside what process 0 pops. */
static void pop_null_beside_an_address(void)
{
    begin();
    bsp_push_reg(area, 4);
    bsp_push_reg(bsp_pid() == 0 ? (void *)&value : NULL, bsp_pid() == 0 ? 4 : 0);
    bsp_sync();
    bsp_pop_reg(bsp_pid() == 0 ? (void *)area : NULL);
    too_far();
}
/* Each has registered NULL once, but not both at the same time. */
static void pop_null_of_different_slots(void)
{
    begin();
    bsp_push_reg(bsp_pid() == 0 ? (void *)area : NULL, 0);
    bsp_push_reg(bsp_pid() == 1 ? (void *)area : NULL, 0);
    bsp_sync();
    bsp_pop_reg(NULL);
    too_far();
}
static void pop_null_too_often(void)
{
    begin();
    bsp_push_reg(NULL, 0);
    bsp_sync();
    bsp_pop_reg(NULL);
    bsp_pop_reg(NULL);
    too_far();
}
static void push_null(void) { begin(); bsp_push_reg(NULL, 4); too_far(); }
static void push_negative(void) { begin(); bsp_push_reg(area, -1); too_far(); }

static void put_unregistered(void) { begin(); bsp_put(0, &value, area, 0, 4); too_far(); }
static void put_inside_an_area(void) { set_up(); bsp_put(0, &value, area + 1, 0, 4); too_far(); }
static void put_too_early(void) { begin(); bsp_push_reg(area, 4); bsp_put(0, &value, area, 0, 4); too_far(); }
static void put_after_pop(void) { set_up(); bsp_pop_reg(area); bsp_sync(); bsp_put(0, &value, area, 0, 4); too_far(); }
static void put_to_minus_one(void) { set_up(); bsp_put(-1, &value, area, 0, 4); too_far(); }
static void put_to_nprocs(void) { set_up(); bsp_put(2, &value, area, 0, 4); too_far(); }
static void put_negative_offset(void) { set_up(); bsp_put(0, &value, area, -4, 4); too_far(); }
static void put_negative_size(void) { set_up(); bsp_put(0, &value, area, 0, -4); too_far(); }
static void put_beyond(void) { set_up(); bsp_put(0, &value, area, 13, 4); too_far(); }
static void put_far_beyond(void) { set_up(); bsp_put(0, &value, area, 2147483647, 2147483647); too_far(); }
static void put_from_null(void) { set_up(); bsp_put(0, NULL, area, 0, 4); too_far(); }
static void hpput_beyond(void) { set_up(); bsp_hpput(0, &value, area, 13, 4); too_far(); }
static void put_to_who_has_null(void)
{
    begin();
    bsp_push_reg(bsp_pid() == 0 ? area : NULL, bsp_pid() == 0 ? (int)sizeof area : 0);
    bsp_sync();
    if (bsp_pid() == 0)
        bsp_put(1, &value, area, 0, 4);
    too_far();
}
static void free_twice(void) { void *some; begin(); some = bsp_alloc(8); bsp_free(some); bsp_free(some); too_far(); }
static void free_what_is_not_given(void) { begin(); bsp_free(malloc(8)); too_far(); }

static void get_unregistered(void) { begin(); bsp_get(0, area, 0, &value, 4); too_far(); }
static void get_from_nprocs(void) { set_up(); bsp_get(2, area, 0, &value, 4); too_far(); }
static void get_beyond(void) { set_up(); bsp_get(0, area, 16, &value, 4); too_far(); }
static void get_to_null(void) { set_up(); bsp_get(0, area, 0, NULL, 4); too_far(); }
static void hpget_unregistered(void) { begin(); bsp_hpget(0, area, 0, &value, 4); too_far(); }

static void send_to_nprocs(void) { begin(); bsp_send(2, NULL, &value, 4); too_far(); }
static void send_negative(void) { begin(); bsp_send(0, NULL, &value, -1); too_far(); }
static void send_null(void) { begin(); bsp_send(0, NULL, NULL, 4); too_far(); }
static void tagsize_null(void) { begin(); bsp_set_tagsize(NULL); too_far(); }
static void tagsize_negative(void) { int size = -1; begin(); bsp_set_tagsize(&size); too_far(); }
static void tagsize_by_one(void) { int size = 4; begin(); if (bsp_pid() == 1) bsp_set_tagsize(&size); too_far(); }
static void tagsize_unequal(void) { int size; begin(); size = 4 + bsp_pid(); bsp_set_tagsize(&size); too_far(); }
static void send_without_tag(void)
{
    int size = 4;
    begin();
    bsp_set_tagsize(&size);
    bsp_sync();
    bsp_send(0, NULL, &value, 4);
    too_far();
}
static void move_from_empty(void) { begin(); bsp_move(&value, 4); too_far(); }
static void move_to_null(void) { begin(); bsp_send(bsp_pid(), NULL, &value, 4); bsp_sync(); bsp_move(NULL, 4); too_far(); }
static void move_negative(void) { begin(); bsp_send(bsp_pid(), NULL, &value, 4); bsp_sync(); bsp_move(&value, -4); too_far(); }
static void hpmove_null(void) { void *p; begin(); bsp_hpmove(NULL, &p); too_far(); }
static void get_tag_null(void) { begin(); bsp_get_tag(NULL, NULL); too_far(); }
static void qsize_null(void) { begin(); bsp_qsize(NULL, NULL); too_far(); }

static void bcast_from_nprocs(void) { begin(); bsp_bcast(2, area, 4); too_far(); }
static void bcast_negative(void) { begin(); bsp_bcast(0, area, -4); too_far(); }
static void bcast_of_different_roots(void) { begin(); bsp_bcast(bsp_pid(), area, 4); too_far(); }
static void bcast_of_different_sizes(void) { begin(); bsp_bcast(0, area, 4 + bsp_pid()); too_far(); }
static void bcast_and_sync(void) { begin(); if (bsp_pid() == 0) bsp_bcast(0, area, 4); too_far(); }
static void fold_with_null(void) { begin(); bsp_fold(NULL, area, area, 4); too_far(); }
static void sync_in_operator(void *result, const void *left, const void *right, int size)
{
    (void)result, (void)left, (void)right, (void)size;
    bsp_sync();
}
static void fold_that_syncs(void) { begin(); bsp_fold(sync_in_operator, area, area, 4); too_far(); }

static jmp_buf away;
static void leave_operator(void *result, const void *left, const void *right, int size)
{
    (void)result, (void)left, (void)right, (void)size;
    longjmp(away, 1);
}
static void fold_that_is_left(void)
{
    begin();
    if (setjmp(away) == 0)
        bsp_fold(leave_operator, area, area, 4);
    too_far();
}

static void sync_in_handler(int number) { (void)number; bsp_sync(); }
/* The handler runs while process 0 is in bsp_sync, at the latest when it runs a second time. */
static void sync_that_is_interrupted(void)
{
    struct sigaction action;
    int waits;
    begin();
    memset(&action, 0, sizeof action);
    action.sa_handler = sync_in_handler;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGUSR1, &action, NULL);
    waits = (int)getpid();
    bsp_bcast(0, &waits, sizeof waits);
    if (bsp_pid() == 1)
        for (;;) {
            kill((pid_t)waits, SIGUSR1);
            usleep(1000);
        }
    too_far();
}
static void abort_in_handler(int number) { bsp_abort("signal %d", number); }
static void abort_while_it_waits(void)
{
    int waits;
    begin();
    signal(SIGUSR1, abort_in_handler);
    waits = (int)getpid();
    bsp_bcast(0, &waits, sizeof waits);
    if (bsp_pid() == 1) {
        kill((pid_t)waits, SIGUSR1);
        for (;;)
            pause();
    }
    too_far();
}
static void exit_in_handler(int number) { (void)number; exit(0); }
static void exit_while_it_waits(void)
{
    int waits;
    begin();
    signal(SIGUSR1, exit_in_handler);
    waits = (int)getpid();
    bsp_bcast(0, &waits, sizeof waits);
    if (bsp_pid() == 1) {
        kill((pid_t)waits, SIGUSR1);
        for (;;)
            pause();
    }
    too_far();
}

static const struct named all[] = {
    { "begin_twice", begin_twice, "bsp_begin: called a second time" },
    { "begin_zero", begin_zero, "bsp_begin: 0 processes were asked for" },
    { "begin_negative", begin_negative, "bsp_begin: -3 processes were asked for" },
    { "init_null", init_null, "bsp_init: the function is NULL" },
    { "init_without_begin", init_without_begin, "bsp_init: the function that was given to bsp_init has not called" },
    { "init_twice", init_twice, "bsp_init: called a second time; a program has one, as its first statement" },
    { "init_after_begin", init_after_begin, "bsp_init: called after bsp_begin" },
    { "init_without_end", init_without_end, "bsp_end: the program has ended without calling it" },
    { "end_without_begin", end_without_begin, "bsp_end: called without bsp_begin" },
    { "end_twice", end_twice, "bsp_end: called a second time" },
    { "return_without_end", return_without_end, "bsp_end: the program has ended without calling it" },
    { "exit_without_end", exit_without_end, "bsp_end: the program has ended without calling it" },
    { "one_exits", one_exits, "bsp_end: the program has ended without calling it (process 1)" },
    { "one_exits_at_once", one_exits_at_once, "" },
    { "one_is_killed", one_is_killed, "" },
    { "one_is_killed_while_another_computes", one_is_killed_while_another_computes, "" },
    { "one_uses_memory_that_is_not_there", one_uses_memory_that_is_not_there, "" },
    { "put_before_begin", put_before_begin, "bsp_put: called before bsp_begin" },
    { "sync_before_begin", sync_before_begin, "bsp_sync: called before bsp_begin" },
    { "pid_before_begin", pid_before_begin, "bsp_pid: called before bsp_begin" },
    { "time_before_begin", time_before_begin, "bsp_time: called before bsp_begin" },
    { "sync_after_end", sync_after_end, "bsp_sync: called after bsp_end" },
    { "one_ends_and_one_syncs", one_ends_and_one_syncs, "bsp_end: process 0 is in bsp_end, but process 1 is in bsp_sync" },
    { "abort_before_begin", abort_before_begin, "gave up at 7" },
    { "one_aborts", one_aborts, "it has 3 of 4.5" },
    { "one_aborts_while_another_computes", one_aborts_while_another_computes, "enough" },
    { "all_abort", all_abort, "all give up" },
    { "abort_with_null", abort_with_null, "bsp_abort: the format is NULL" },
    { "abort_that_stores", abort_that_stores, "stored %n" },
    { "abort_with_too_few", abort_with_too_few, "" },
    { "another_thread_calls", another_thread_calls, "bsp_sync: called by a thread that has not called bsp_begin" },
    { "push_by_one", push_by_one, "bsp_sync: the processes have called bsp_push_reg a different number of times: 0 on" },
    { "pop_by_one", pop_by_one, "bsp_sync: the processes have called bsp_pop_reg a different number of times: 0 on" },
    { "pop_of_different_slots", pop_of_different_slots, "bsp_sync: bsp_pop_reg was called for different registrations" },
    { "pop_of_nothing", pop_of_nothing, "bsp_pop_reg: the address is not registered, or was popped already" },
    { "pop_twice", pop_twice, "bsp_pop_reg: the address is not registered, or was popped already" },
    { "pop_null_beside_an_address", pop_null_beside_an_address,
      "bsp_sync: bsp_pop_reg was called for different registrations by processes 0 and 1" },
    { "pop_null_of_different_slots", pop_null_of_different_slots,
      "bsp_sync: bsp_pop_reg was called for different registrations by processes 0 and 1" },
    { "pop_null_too_often", pop_null_too_often, "bsp_pop_reg: the address is not registered, or was popped already" },
    { "the_thread_of_process_0_ends", the_thread_of_process_0_ends,
      "bsp_end: the thread that has called bsp_begin has ended without calling it (process 0)" },
    { "the_thread_of_process_1_ends", the_thread_of_process_1_ends,
      "bsp_end: the thread that has called bsp_begin has ended without calling it (process 1)" },
    { "free_twice", free_twice, "bsp_free: the address is not one that bsp_alloc gave" },
    { "free_what_is_not_given", free_what_is_not_given, "bsp_free: the address is not one that bsp_alloc gave" },
    { "push_null", push_null, "bsp_push_reg: the address is NULL" },
    { "push_negative", push_negative, "bsp_push_reg: the size is -1; it must not be negative" },
    { "put_unregistered", put_unregistered, "bsp_put: the address is not registered" },
    { "put_inside_an_area", put_inside_an_area, "bsp_put: the address is not registered" },
    { "put_too_early", put_too_early, "bsp_put: the address was registered in this superstep" },
    { "put_after_pop", put_after_pop, "bsp_put: the address is not registered" },
    { "put_to_minus_one", put_to_minus_one, "bsp_put: there is no process -1; they are 0 to 1" },
    { "put_to_nprocs", put_to_nprocs, "bsp_put: there is no process 2; they are 0 to 1" },
    { "put_negative_offset", put_negative_offset, "bsp_put: the offset is -4; it must not be negative" },
    { "put_negative_size", put_negative_size, "bsp_put: the number of bytes is -4; it must not be negative" },
    { "put_beyond", put_beyond, "bsp_put: 4 bytes at offset 13 are 1 bytes beyond the 16 that process 0 has registered" },
    { "put_far_beyond", put_far_beyond, "bsp_put: 2147483647 bytes at offset 2147483647 are 4294967278 bytes beyond" },
    { "put_from_null", put_from_null, "bsp_put: the source is NULL" },
    { "hpput_beyond", hpput_beyond, "bsp_hpput: 4 bytes at offset 13 are 1 bytes beyond" },
    { "put_to_who_has_null", put_to_who_has_null, "bsp_put: 4 bytes at offset 0 are 4 bytes beyond the 0 that process 1" },
    { "get_unregistered", get_unregistered, "bsp_get: the address is not registered" },
    { "get_from_nprocs", get_from_nprocs, "bsp_get: there is no process 2; they are 0 to 1" },
    { "get_beyond", get_beyond, "bsp_get: 4 bytes at offset 16 are 4 bytes beyond the 16 that process 0 has registered" },
    { "get_to_null", get_to_null, "bsp_get: the destination is NULL" },
    { "hpget_unregistered", hpget_unregistered, "bsp_hpget: the address is not registered" },
    { "send_to_nprocs", send_to_nprocs, "bsp_send: there is no process 2; they are 0 to 1" },
    { "send_negative", send_negative, "bsp_send: the payload's size is -1; it must not be negative" },
    { "send_null", send_null, "bsp_send: the payload is NULL" },
    { "tagsize_null", tagsize_null, "bsp_set_tagsize: the tag size is NULL" },
    { "tagsize_negative", tagsize_negative, "bsp_set_tagsize: the tag size is -1; it must not be negative" },
    { "tagsize_by_one", tagsize_by_one, "bsp_sync: the processes have called bsp_set_tagsize a different number" },
    { "tagsize_unequal", tagsize_unequal, "bsp_sync: the processes have set different tag sizes" },
    { "send_without_tag", send_without_tag, "bsp_send: the tag is NULL" },
    { "move_from_empty", move_from_empty, "bsp_move: there is no message left in the queue" },
    { "move_to_null", move_to_null, "bsp_move: the payload is NULL" },
    { "move_negative", move_negative, "bsp_move: the room for the payload is -4; it must not be negative" },
    { "hpmove_null", hpmove_null, "bsp_hpmove: tag_ptr is NULL" },
    { "get_tag_null", get_tag_null, "bsp_get_tag: the status is NULL" },
    { "qsize_null", qsize_null, "bsp_qsize: nmessages is NULL" },
    { "bcast_from_nprocs", bcast_from_nprocs, "bsp_bcast: there is no process 2; they are 0 to 1" },
    { "bcast_negative", bcast_negative, "bsp_bcast: the number of bytes is -4; it must not be negative" },
    { "bcast_of_different_roots", bcast_of_different_roots, "bsp_bcast: the processes have called it with a different" },
    { "bcast_of_different_sizes", bcast_of_different_sizes, "bsp_bcast: the processes have called it with a different" },
    { "bcast_and_sync", bcast_and_sync, "bsp_bcast: process 0 is in bsp_bcast, but process 1 is in bsp_sync" },
    { "fold_with_null", fold_with_null, "bsp_fold: the function is NULL" },
    { "fold_that_syncs", fold_that_syncs, "bsp_sync: called before bsp_fold has returned" },
    { "fold_that_is_left", fold_that_is_left, "bsp_sync: called before bsp_fold has returned" },
    /* Process 0 may still be in bsp_bcast. */
    { "sync_that_is_interrupted", sync_that_is_interrupted, "bsp_sync: called before bsp_" },
    { "abort_while_it_waits", abort_while_it_waits, "signal 10" },
    { "exit_while_it_waits", exit_while_it_waits, "bsp_end: the program has ended without calling it (process 0)" },
};

int main(int argc, char **argv)
{
    return do_named(all, sizeof all / sizeof *all, NULL, argc, argv);
}
