/* Claims about puts and gets. */

#include "claim.h"

static int next(void) { return (me + 1) % all; }
static int before(void) { return (me + all - 1) % all; }

static void a_put_takes_the_value_at_the_call_and_writes_at_the_end(void)
{
    int source = me, target = -1;
    bsp_push_reg(&target, sizeof target);
    bsp_sync();
    bsp_put(next(), &source, &target, 0, sizeof source);
    source = 1000;
    CHECK(target == -1);
    bsp_sync();
    CHECK(target == before());
    bsp_put(me, &source, &target, 0, sizeof source);
    CHECK(target == before());
    bsp_sync();
    CHECK(target == 1000);
    bsp_pop_reg(&target);
}

static void a_get_reads_at_the_end_and_before_any_put_writes(void)
{
    int area = me, found = -1, value = 77;
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    bsp_get(next(), &area, 0, &found, sizeof found);
    bsp_put(next(), &value, &area, 0, sizeof value);
    area = me + 100;
    CHECK(found == -1);
    bsp_sync();
    CHECK(found == next() + 100 && area == 77);
    /* From itself as well. */
    bsp_get(me, &area, 0, &found, sizeof found);
    area = 78;
    bsp_sync();
    CHECK(found == 78);
    bsp_pop_reg(&area);
}

static void a_put_wins_over_a_get_to_the_same_place(void)
{
    int area = me, value = 50 + me;
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    bsp_get(next(), &area, 0, &area, sizeof area);
    bsp_sync();
    CHECK(area == next());
    bsp_get(next(), &area, 0, &area, sizeof area);
    bsp_put(next(), &value, &area, 0, sizeof value);
    bsp_sync();
    CHECK(area == 50 + before());
    bsp_pop_reg(&area);
}

static void puts_to_one_place_are_written_by_rank_and_order_of_issue(void)
{
    int area = -1, i;
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    for (i = 0; i < 5; i++) {
        int value = 10 * me + i;
        bsp_put(0, &value, &area, 0, sizeof value);
    }
    bsp_sync();
    CHECK(me != 0 || area == 10 * (all - 1) + 4);
    bsp_pop_reg(&area);
}

static void any_length_goes_to_any_place(void)
{
    unsigned char area[160], source[64], got[64];
    int offset, len, i;
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (offset = 0; offset < 18; offset++)
        for (len = 0; len < 48; len += len < 20 ? 1 : 7) {
            memset(area, 0xEE, sizeof area);
            memset(got, 0xDD, sizeof got);
            for (i = 0; i < 64; i++)
                source[i] = (unsigned char)(i + 3 * me + len);
            bsp_sync();
            bsp_put((bsp_pid_t)next(), source + offset % 9, area, (bsp_size_t)(offset + 5), (bsp_size_t)len);
            bsp_sync();
            for (i = 0; i < (int)sizeof area; i++) {
                int at = i - offset - 5;
                unsigned char expected = (unsigned char)(at + offset % 9 + 3 * before() + len);
                CHECK(area[i] == (at >= 0 && at < len ? expected : 0xEE));
            }
            bsp_get((bsp_pid_t)next(), area, (bsp_size_t)(offset + 5), got + 3, (bsp_size_t)len);
            bsp_sync();
            for (i = 0; i < (int)sizeof got; i++) {
                int at = i - 3;
                unsigned char expected = (unsigned char)(at + offset % 9 + 3 * me + len);
                CHECK(got[i] == (at >= 0 && at < len ? expected : 0xDD));
            }
        }
    bsp_pop_reg(area);
}

static void nothing_is_touched_beyond_an_area(void)
{
    int round;
    for (round = 0; round < 2; round++) {
        size_t size = 1000 + (size_t)round * 100000;
        char *area = guarded(size, 1), *source = guarded(size, 1), *low = guarded(size, 0);
        memset(source, me + 1, size);
        bsp_push_reg(area, (bsp_size_t)size);
        bsp_push_reg(low, (bsp_size_t)size);
        bsp_sync();
        bsp_put(next(), source, area, 0, (bsp_size_t)size);
        bsp_hpput(next(), source, low, 0, (bsp_size_t)size);
        bsp_sync();
        CHECK(area[0] == before() + 1 && area[size - 1] == before() + 1);
        CHECK(low[0] == before() + 1 && low[size - 1] == before() + 1);
        bsp_get(next(), area, 0, source, (bsp_size_t)size);
        bsp_sync();
        CHECK(source[0] == me + 1 && source[size - 1] == me + 1);
        bsp_hpget(next(), low, 0, source, (bsp_size_t)size);
        bsp_sync();
        CHECK(source[size - 1] == me + 1);
        bsp_pop_reg(low);
        bsp_pop_reg(area);
        bsp_sync();
    }
}

static void no_bytes_are_nothing_whatever_else_is_wrong(void)
{
    int area = 1;
    bsp_put((bsp_pid_t)all, NULL, &area, 100, 0);
    bsp_hpput((bsp_pid_t)-5, NULL, NULL, 100, 0);
    bsp_get((bsp_pid_t)all, &area, 0, NULL, 0);
    bsp_hpget((bsp_pid_t)all, NULL, 7, NULL, 0);
    bsp_sync();
    CHECK(area == 1);
}

static void long_transfers_arrive_whole(void)
{
    size_t size = 3000001, i;
    unsigned char *area = (unsigned char *)malloc(size), *source = (unsigned char *)malloc(size);
    int kind;
    bsp_push_reg(area, (bsp_size_t)size);
    bsp_push_reg(source, (bsp_size_t)size);
    bsp_sync();
    for (kind = 0; kind < 4; kind++) {
        for (i = 0; i < size; i++)
            source[i] = (unsigned char)(i * 31 + (size_t)me + (size_t)kind);
        memset(area, 0, size);
        bsp_sync();
        switch (kind) {
        case 0: bsp_put(next(), source, area, 1, (bsp_size_t)(size - 1)); break;
        case 1: bsp_hpput(next(), source, area, 1, (bsp_size_t)(size - 1)); break;
        case 2: bsp_get(before(), source, 0, area + 1, (bsp_size_t)(size - 1)); break;
        default: bsp_hpget(before(), source, 0, area + 1, (bsp_size_t)(size - 1)); break;
        }
        bsp_sync();
        CHECK(area[0] == 0);
        for (i = 1; i < size; i++)
            CHECK(area[i] == (unsigned char)((i - 1) * 31 + (size_t)before() + (size_t)kind));
    }
    bsp_pop_reg(source);
    bsp_pop_reg(area);
    bsp_sync();
    free(area);
    free(source);
}

static void long_gets_read_what_was_there_before_any_write(void)
{
    /* Everybody shifts a long array by one process, in place and not, alone and with short gets and puts beside it. */
    enum { SIZE = 300000 };
    static unsigned char area[SIZE], other[SIZE];
    unsigned char *mine = area;
    int kind, i;
    bsp_push_reg(area, SIZE);
    bsp_sync();
    for (kind = 0; kind < 5; kind++) {
        unsigned char mark = 0, small = (unsigned char)(200 + me);
        for (i = 0; i < SIZE; i++)
            area[i] = (unsigned char)(i * 13 + me + kind);
        memset(other, 0, SIZE);
        bsp_sync();
        bsp_get((bsp_pid_t)next(), area, 0, kind == 1 ? mine : other, SIZE);
        if (kind == 2)
            bsp_put((bsp_pid_t)next(), &small, area, 7, 1);
        if (kind == 3)
            bsp_get((bsp_pid_t)before(), area, 9, &mark, 1);
        if (kind == 4)
            bsp_get((bsp_pid_t)before(), area, 9, &area[SIZE - 1], 1);
        bsp_sync();
        for (i = 0; i < SIZE; i++)
            CHECK((kind == 1 ? mine : other)[i] == (unsigned char)(i * 13 + next() + kind));
        CHECK(kind != 2 || area[7] == 200 + before());
        CHECK(kind != 3 || mark == (unsigned char)(9 * 13 + before() + kind));
        CHECK(kind != 4 || area[SIZE - 1] == (unsigned char)(9 * 13 + before() + kind));
        /* Who goes on changes what others have read. */
        memset(area, 0, SIZE);
    }
    bsp_pop_reg(area);
}

static void direct_transfers_come_after_the_puts_of_the_step_before(void)
{
    static char area[100000], early[100000], late[100000];
    int round;
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    for (round = 0; round < 200; round++) {
        memset(early, 1, sizeof early);
        memset(late, 2 + round % 50, sizeof late);
        bsp_put(next(), early, area, 0, sizeof early);
        bsp_sync();
        bsp_hpput(next(), late, area, 0, sizeof late);
        bsp_sync();
        CHECK(area[0] == 2 + round % 50 && area[99999] == 2 + round % 50);
    }
    bsp_pop_reg(area);
}

static void everybody_puts_to_everybody(void)
{
    int *area = (int *)malloc((size_t)all * 1000 * sizeof *area), i, to;
    bsp_push_reg(area, (bsp_size_t)((size_t)all * 1000 * sizeof *area));
    bsp_sync();
    for (i = 0; i < 1000; i++)
        for (to = 0; to < all; to++) {
            int value = 1000000 * me + 1000 * to + i;
            bsp_put(to, &value, area, (bsp_size_t)((1000 * me + i) * (int)sizeof value), sizeof value);
        }
    bsp_sync();
    for (i = 0; i < 1000; i++)
        for (to = 0; to < all; to++)
            CHECK(area[1000 * to + i] == 1000000 * to + 1000 * me + i);
    bsp_pop_reg(area);
    bsp_sync();
    free(area);
}

static void shared_memory_is_memory_like_any(void)
{
    char *area = (char *)bsp_alloc(50000), *other = (char *)bsp_alloc(1), value = (char)(me + 1);
    CHECK(area != NULL && other != NULL && (size_t)area % 16 == 0);
    memset(area, 0, 50000);
    bsp_push_reg(area, 50000);
    bsp_sync();
    bsp_hpput(next(), &value, area, 49999, 1);
    bsp_put(next(), &value, area, 0, 1);
    bsp_sync();
    CHECK(area[49999] == before() + 1 && area[0] == before() + 1 && area[1] == 0);
    bsp_hpget(next(), area, 49999, &value, 1);
    bsp_sync();
    CHECK(value == me + 1);
    bsp_pop_reg(area);
    bsp_sync();
    bsp_free(area);
    bsp_free(other);
    bsp_free(NULL);
}

static void without_bytes_nothing_happens_wherever_it_would(void)
{
    char area = 1;
    bsp_push_reg(&area, 1);
    bsp_sync();
    bsp_put((me + 1) % all, &area, &area, (bsp_size_t)-5, 0);
    bsp_get((me + 1) % all, &area, (bsp_size_t)-5, &area, 0);
    bsp_hpput((me + 1) % all, &area, &area, (bsp_size_t)-5, 0);
    bsp_hpget((me + 1) % all, &area, (bsp_size_t)-5, &area, 0);
    bsp_sync();
    CHECK(area == 1);
    bsp_pop_reg(&area);
}

const struct claim transfer_claims[] = {
    { "a_put_takes_the_value_at_the_call_and_writes_at_the_end",
      a_put_takes_the_value_at_the_call_and_writes_at_the_end },
    { "a_get_reads_at_the_end_and_before_any_put_writes", a_get_reads_at_the_end_and_before_any_put_writes },
    { "a_put_wins_over_a_get_to_the_same_place", a_put_wins_over_a_get_to_the_same_place },
    { "puts_to_one_place_are_written_by_rank_and_order_of_issue",
      puts_to_one_place_are_written_by_rank_and_order_of_issue },
    { "any_length_goes_to_any_place", any_length_goes_to_any_place },
    { "nothing_is_touched_beyond_an_area", nothing_is_touched_beyond_an_area },
    { "no_bytes_are_nothing_whatever_else_is_wrong", no_bytes_are_nothing_whatever_else_is_wrong },
    { "long_transfers_arrive_whole", long_transfers_arrive_whole },
    { "long_gets_read_what_was_there_before_any_write", long_gets_read_what_was_there_before_any_write },
    { "direct_transfers_come_after_the_puts_of_the_step_before",
      direct_transfers_come_after_the_puts_of_the_step_before },
    { "everybody_puts_to_everybody", everybody_puts_to_everybody },
    { "shared_memory_is_memory_like_any", shared_memory_is_memory_like_any },
    { "without_bytes_nothing_happens_wherever_it_would", without_bytes_nothing_happens_wherever_it_would },
    { NULL, NULL },
};
