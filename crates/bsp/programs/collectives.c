/* Every collective, against what it must give, and what a high-performance get sees right after one.
 *
 *     collectives [PROCESSES [SIZE]]
 *
 * SIZE is how many numbers are handed around.
 */
#include "program.h"

/* x -> a x + b, modulo a prime: combining two of them does not commute. */
typedef struct {
    unsigned long a, b;
} line;

#define PRIME 65521UL

static line line_of(proc pid)
{
    line made;

    made.a = (unsigned long)pid * 31 + 7;
    made.b = (unsigned long)pid * 17 + 3;
    return made;
}

/* First `first`, then `second`. */
static line chain(line first, line second)
{
    line both;

    both.a = first.a * second.a % PRIME;
    both.b = (first.b * second.a + second.b) % PRIME;
    return both;
}

static void chain_lines(void *result, const void *left, const void *right, extent nbytes)
{
    line first, second;

    if (nbytes != sizeof(line))
        bsp_abort("collectives: an operation is handed %lu bytes", (unsigned long)nbytes);
    memcpy(&first, left, sizeof first);
    memcpy(&second, right, sizeof second);
    first = chain(first, second);
    memcpy(result, &first, sizeof first);
}

/* The lines of processes 0 to `last`, one after the other. */
static line chain_up_to(proc last)
{
    line all = line_of(0);
    proc s;

    for (s = 1; s <= last; s++)
        all = chain(all, line_of(s));
    return all;
}

static void check_lines(void)
{
    proc p = bsp_nprocs(), s = bsp_pid();
    line mine = line_of(s), expected, result;

    bsp_fold(chain_lines, &mine, &result, sizeof(line));
    expected = chain_up_to(p - 1);
    if (result.a != expected.a || result.b != expected.b)
        bsp_abort("collectives: bsp_fold gives process %d %lu and %lu", (int)s, result.a, result.b);
    bsp_scan(chain_lines, &mine, &result, sizeof(line));
    expected = chain_up_to(s);
    if (result.a != expected.a || result.b != expected.b)
        bsp_abort("collectives: bsp_scan gives process %d %lu and %lu", (int)s, result.a, result.b);
    /* The result may take the place of the source. */
    bsp_scan(chain_lines, &mine, &mine, sizeof(line));
    if (mine.a != expected.a || mine.b != expected.b)
        bsp_abort("collectives: bsp_scan in place gives process %d %lu and %lu", (int)s, mine.a, mine.b);
}

/* The number that process `from` has for process `to` at place i. */
static long number_of(long from, long to, long i)
{
    return (from * 1009 + to) * 100003 + i;
}

static void check_numbers(const char *name, const long *numbers, long count, long from, long to)
{
    long i;

    for (i = 0; i < count; i++)
        if (numbers[i] != number_of(from, to, i))
            bsp_abort("collectives: %s brings %ld from process %ld to %ld", name, numbers[i], from, to);
}

/* Everything that moves numbers, with each process as the root. */
static void check_moves(long count)
{
    long p = (long)bsp_nprocs(), s = (long)bsp_pid(), root, other, i;
    extent bytes = (extent)(count * (long)sizeof(long));
    long *from = (long *)room_for(count * p, sizeof(long)), *to = (long *)room_for(count * p, sizeof(long));

    for (other = 0; other < p; other++)
        for (i = 0; i < count; i++)
            from[other * count + i] = number_of(s, other, i);

    bsp_exchange(from, to, bytes);
    for (other = 0; other < p; other++)
        check_numbers("bsp_exchange", to + other * count, count, other, s);

    for (root = 0; root < p; root++) {
        bsp_scatter((proc)root, from, to, bytes);
        check_numbers("bsp_scatter", to, count, root, s);
        bsp_gather((proc)root, from + root * count, to, bytes);
        for (other = 0; other < p && s == root; other++)
            check_numbers("bsp_gather", to + other * count, count, other, root);
        memcpy(to, from, (size_t)bytes);
        bsp_bcast((proc)root, to, bytes);
        check_numbers("bsp_bcast", to, count, root, 0);
    }
    free(from);
    free(to);
}

/* What a collective has written is there in the next superstep, also for those who look without buffers. */
static void check_after(long count)
{
    long p = (long)bsp_nprocs(), s = (long)bsp_pid(), round, i;
    extent bytes = (extent)(count * (long)sizeof(long));
    long *data = (long *)room_for(count, sizeof(long)), *seen = (long *)room_for(count, sizeof(long));

    bsp_push_reg(data, bytes);
    bsp_sync();
    for (round = 1; round <= 200; round++) {
        if (s == 0)
            for (i = 0; i < count; i++)
                data[i] = number_of(round, 0, i);
        bsp_bcast(0, data, bytes);
        bsp_hpget((proc)((s + 1) % p), data, 0, seen, bytes);
        bsp_sync();
        check_numbers("bsp_hpget after bsp_bcast", seen, count, round, 0);
    }
    bsp_pop_reg(data);
    bsp_sync();
    free(data);
    free(seen);
}

/* Puts and messages from before a collective have arrived after it. */
static void check_before(void)
{
    long p = (long)bsp_nprocs(), s = (long)bsp_pid(), right = (s + 1) % p, left = (s + p - 1) % p, got = -1, sent = s;
    extent messages, bytes;
    long other = 0;

    bsp_push_reg(&got, sizeof got);
    bsp_sync();
    bsp_put((proc)right, &sent, &got, 0, sizeof got);
    bsp_send((proc)right, NULL, &sent, sizeof sent);
    bsp_bcast(0, &other, sizeof other);
    bsp_qsize(&messages, &bytes);
    if (got != left || messages != 1 || bytes != sizeof sent)
        bsp_abort("collectives: a put or a message did not arrive with bsp_bcast at process %ld", s);
    bsp_move(&got, sizeof got);
    if (got != left)
        bsp_abort("collectives: process %ld has a message with %ld", s, got);
    bsp_pop_reg(&got);
    bsp_sync();
}

static void run(void)
{
    long count;

    bsp_begin((proc)wanted_procs);
    count = shared_size();
    check_lines();
    check_moves(count);
    check_after(count);
    check_before();
    bsp_sync();
    if (bsp_pid() == 0)
        printf("collectives: ok, six of them with %ld numbers on %d processes\n", count, (int)bsp_nprocs());
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 5000);
    run();
    return 0;
}
