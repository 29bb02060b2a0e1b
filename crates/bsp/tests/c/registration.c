/* Claims about registration. */

#include "claim.h"

static int x, y;

static void the_newest_registration_of_an_address_counts(void)
{
    char area[16] = { 0 };
    char one = 1;
    bsp_push_reg(area, 4);
    bsp_sync();
    bsp_push_reg(area, 16);
    bsp_sync();
    bsp_put((me + 1) % all, &one, area, 15, 1);
    bsp_sync();
    CHECK(area[15] == 1);
    bsp_pop_reg(area);
    bsp_sync();
    bsp_put((me + 1) % all, &one, area, 3, 1);
    bsp_sync();
    CHECK(area[3] == 1);
    bsp_pop_reg(area);
}

static void registrations_need_not_nest(void)
{
    int value = me + 10;
    bsp_push_reg(&x, sizeof x);
    bsp_push_reg(&y, sizeof y);
    bsp_sync();
    bsp_pop_reg(&x);
    bsp_sync();
    bsp_put((me + 1) % all, &value, &y, 0, sizeof value);
    bsp_sync();
    CHECK(y == (me + all - 1) % all + 10);
    bsp_pop_reg(&y);
}

static void an_area_may_be_used_in_the_step_that_pops_it(void)
{
    int value = me;
    x = -1;
    bsp_push_reg(&x, sizeof x);
    bsp_sync();
    bsp_pop_reg(&x);
    bsp_put((me + 1) % all, &value, &x, 0, sizeof value);
    bsp_sync();
    CHECK(x == (me + all - 1) % all);
}

static void a_push_and_a_pop_in_one_step_leave_what_was_there(void)
{
    char area[8] = { 0 }, two = 2;
    bsp_push_reg(area, 8);
    bsp_sync();
    bsp_push_reg(area, 1);
    bsp_pop_reg(area);
    bsp_sync();
    bsp_put((me + 1) % all, &two, area, 7, 1);
    bsp_sync();
    CHECK(area[7] == 2);
    bsp_pop_reg(area);
    bsp_push_reg(area, 2);
    bsp_sync();
    bsp_put((me + 1) % all, &two, area, 1, 1);
    bsp_sync();
    CHECK(area[1] == 2);
    bsp_pop_reg(area);
}

static void some_may_register_null(void)
{
    int area[2] = { -1, -1 }, value = me;
    /* Only process 0 has something to write to; the others name it by what they have pushed in the same place. */
    bsp_push_reg(area, me == 0 ? (bsp_size_t)sizeof area : 0);
    bsp_push_reg(me == 0 ? NULL : (const void *)&value, 0);
    bsp_sync();
    if (me == all - 1)
        bsp_put(0, &value, area, sizeof value, sizeof value);
    bsp_sync();
    CHECK(me != 0 || (area[0] == -1 && area[1] == all - 1));
    bsp_pop_reg(me == 0 ? NULL : (const void *)&value);
    bsp_pop_reg(area);
    bsp_sync();
}

static void null_is_popped_with_what_the_others_pop(void)
{
    /* Process 0 alone has memory. It pops in the order of registration, against it, and as it likes. */
    static const int orders[][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };
    static char areas[4];
    char value = 7;
    size_t order;
    int i;
    for (order = 0; order < sizeof orders / sizeof *orders; order++) {
        for (i = 0; i < 4; i++)
            bsp_push_reg(me == 0 ? &areas[i] : NULL, me == 0);
        bsp_sync();
        for (i = 0; i < 4; i++) {
            bsp_pop_reg(me == 0 ? &areas[orders[order][i]] : NULL);
            /* What is left can be used. */
            if (i < 2)
                bsp_sync();
            if (me == 0 && i < 3)
                bsp_put(0, &value, &areas[orders[order][3]], 0, 1);
        }
        bsp_sync();
        CHECK(me != 0 || areas[orders[order][3]] == 7);
        areas[orders[order][3]] = 0;
    }
    /* One that nobody has memory for goes by itself, beside those of process 0. */
    bsp_push_reg(NULL, 0);
    bsp_push_reg(me == 0 ? areas : NULL, me == 0);
    bsp_push_reg(NULL, 0);
    bsp_sync();
    bsp_pop_reg(NULL);
    bsp_pop_reg(me == 0 ? areas : NULL);
    bsp_push_reg(NULL, 0);
    bsp_pop_reg(NULL);
    bsp_pop_reg(NULL);
    bsp_sync();
    /* And numbers agree still. */
    bsp_push_reg(areas, 4);
    bsp_sync();
    bsp_put((me + 1) % all, &value, areas, 3, 1);
    bsp_pop_reg(areas);
    bsp_sync();
    CHECK(areas[3] == 7);
    areas[3] = 0;
}

static void addresses_of_one_slot_may_differ(void)
{
    /* Even processes register the one first, odd ones the other. */
    int first = -1, second = -1, value = me;
    int *one = me % 2 == 0 ? &first : &second, *two = me % 2 == 0 ? &second : &first;
    bsp_push_reg(one, sizeof *one);
    bsp_push_reg(two, sizeof *two);
    bsp_sync();
    bsp_put((me + 1) % all, &value, one, 0, sizeof value);
    bsp_sync();
    CHECK(*one == (me + all - 1) % all && *two == -1);
    bsp_pop_reg(two);
    bsp_pop_reg(one);
}

static void sizes_of_one_slot_may_differ(void)
{
    char *area = (char *)malloc((size_t)(8 * (me + 1)));
    char value = (char)me;
    memset(area, -1, (size_t)(8 * (me + 1)));
    bsp_push_reg(area, (bsp_size_t)(8 * (me + 1)));
    bsp_sync();
    /* The last byte of the neighbour's. */
    bsp_put((me + 1) % all, &value, area, (bsp_size_t)(8 * ((me + 1) % all + 1) - 1), 1);
    bsp_sync();
    CHECK(area[8 * (me + 1) - 1] == (me + all - 1) % all);
    CHECK(area[8 * (me + 1) - 2] == -1);
    bsp_pop_reg(area);
    bsp_sync();
    free(area);
}

static void areas_may_overlap(void)
{
    char area[8] = { 0 }, value = 5;
    bsp_push_reg(area, 8);
    bsp_push_reg(area + 4, 4);
    bsp_sync();
    bsp_put((me + 1) % all, &value, area + 4, 3, 1);
    bsp_put((me + 1) % all, &value, area, 6, 1);
    bsp_sync();
    CHECK(area[7] == 5 && area[6] == 5 && area[5] == 0);
    bsp_pop_reg(area + 4);
    bsp_pop_reg(area);
}

static void registering_over_and_over_works(void)
{
    static char many[3000];
    int round, i;
    char value = (char)(me + 1);
    for (round = 0; round < 50; round++) {
        for (i = 0; i < 3000; i++)
            bsp_push_reg(&many[i], 1);
        bsp_sync();
        bsp_put((me + 1) % all, &value, &many[(round * 61) % 3000], 0, 1);
        for (i = 0; i < 3000; i++)
            bsp_pop_reg(&many[(i * 7) % 3000]);
        bsp_sync();
        CHECK(many[(round * 61) % 3000] == (me + all - 1) % all + 1);
    }
}

static void one_address_may_be_registered_many_times(void)
{
    char area[8] = { 0 }, value = (char)(me + 1);
    int i;
    for (i = 0; i < 50000; i++)
        bsp_push_reg(area, (bsp_size_t)(i % 8 + 1));
    bsp_sync();
    for (i = 0; i < 49998; i++)
        bsp_pop_reg(area);
    bsp_sync();
    bsp_put((me + 1) % all, &value, area, 1, 1);
    bsp_sync();
    CHECK(area[1] == (me + all - 1) % all + 1);
    bsp_pop_reg(area);
    bsp_pop_reg(area);
}

static void a_million_registrations_work(void)
{
    static char many[1000000];
    char value = (char)(me + 1);
    /* With many processes fewer will do. */
    int i, count = all > 2 ? 100000 : 1000000, some = count / 7;
    for (i = 0; i < count; i++)
        bsp_push_reg(&many[i], 1);
    bsp_sync();
    bsp_put((me + 1) % all, &value, &many[some], 0, 1);
    bsp_sync();
    CHECK(many[some] == (me + all - 1) % all + 1);
    for (i = 0; i < count; i++)
        bsp_pop_reg(&many[i]);
}

const struct claim registration_claims[] = {
    { "the_newest_registration_of_an_address_counts", the_newest_registration_of_an_address_counts },
    { "registrations_need_not_nest", registrations_need_not_nest },
    { "an_area_may_be_used_in_the_step_that_pops_it", an_area_may_be_used_in_the_step_that_pops_it },
    { "a_push_and_a_pop_in_one_step_leave_what_was_there", a_push_and_a_pop_in_one_step_leave_what_was_there },
    { "some_may_register_null", some_may_register_null },
    { "null_is_popped_with_what_the_others_pop", null_is_popped_with_what_the_others_pop },
    { "addresses_of_one_slot_may_differ", addresses_of_one_slot_may_differ },
    { "sizes_of_one_slot_may_differ", sizes_of_one_slot_may_differ },
    { "areas_may_overlap", areas_may_overlap },
    { "registering_over_and_over_works", registering_over_and_over_works },
    { "one_address_may_be_registered_many_times", one_address_may_be_registered_many_times },
    { "a_million_registrations_work", a_million_registrations_work },
    { NULL, NULL },
};
