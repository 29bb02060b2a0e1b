/* Claims about processes and collectives. */

#include "claim.h"

static int global = 5;

static void globals_are_private(void)
{
    int seen = -1;
    global += me;
    bsp_push_reg(&global, sizeof global);
    bsp_sync();
    CHECK(global == 5 + me);
    bsp_get((me + 1) % all, &global, 0, &seen, sizeof seen);
    bsp_sync();
    CHECK(seen == 5 + (me + 1) % all);
    bsp_pop_reg(&global);
}

static void time_goes_on(void)
{
    double first = bsp_time(), last;
    CHECK(first >= 0 && first < 60);
    bsp_sync();
    last = bsp_time();
    CHECK(last >= first);
}

static void many_steps_work(void)
{
    int i, area = 0;
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    for (i = 0; i < 2000; i++) {
        bsp_put((me + i) % all, &i, &area, 0, sizeof i);
        bsp_sync();
        CHECK(area == i);
    }
    bsp_pop_reg(&area);
}

/* Not commutative: the left one's last digits, and the right one's behind them. */
static void append(void *result, const void *left, const void *right, bsp_size_t nbytes)
{
    long a, b, c;
    (void)nbytes;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    c = (a * 10 + b) % 1000000000L;
    memcpy(result, &c, sizeof c);
}

static void collectives_move_what_they_say(void)
{
    int root, i;
    long mine = me + 1, fold = -1, scan = -1, expected = 0;
    int *list = (int *)malloc(sizeof(int) * (size_t)all), *other = (int *)malloc(sizeof(int) * (size_t)all);
    for (root = 0; root < all; root++) {
        int value = me == root ? 40 + root : -1;
        bsp_bcast(root, &value, sizeof value);
        CHECK(value == 40 + root);
        value = 7 * me + root;
        memset(list, 0, sizeof(int) * (size_t)all);
        bsp_gather(root, &value, list, sizeof value);
        for (i = 0; i < all; i++)
            CHECK(list[i] == (me == root ? 7 * i + root : 0));
        for (i = 0; i < all; i++)
            list[i] = 100 * me + i;
        value = -1;
        bsp_scatter(root, list, &value, sizeof value);
        CHECK(value == 100 * root + me);
    }
    for (i = 0; i < all; i++)
        list[i] = 100 * me + i;
    bsp_exchange(list, other, sizeof(int));
    for (i = 0; i < all; i++)
        CHECK(other[i] == 100 * i + me);
    bsp_fold(append, &mine, &fold, sizeof mine);
    bsp_scan(append, &mine, &scan, sizeof mine);
    for (i = 0; i < all; i++) {
        expected = i == 0 ? 1 : (expected * 10 + i + 1) % 1000000000L;
        if (i == me)
            CHECK(scan == expected);
    }
    CHECK(fold == expected);
    bsp_bcast(0, NULL, 0);
    free(list);
    free(other);
}

static void a_collective_is_one_step_and_everything_else_happens_in_it(void)
{
    int area = -1, value = me, sum = 1;
    bsp_size_t count;
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    bsp_put((me + 1) % all, &value, &area, 0, sizeof value);
    bsp_send((me + 1) % all, NULL, &value, sizeof value);
    bsp_pop_reg(&area);
    bsp_bcast(0, &sum, sizeof sum);
    CHECK(area == (me + all - 1) % all);
    bsp_qsize(&count, NULL);
    CHECK(count == 1);
}

const struct claim other_claims[] = {
    { "globals_are_private", globals_are_private },
    { "time_goes_on", time_goes_on },
    { "many_steps_work", many_steps_work },
    { "collectives_move_what_they_say", collectives_move_what_they_say },
    { "a_collective_is_one_step_and_everything_else_happens_in_it",
      a_collective_is_one_step_and_everything_else_happens_in_it },
    { NULL, NULL },
};
