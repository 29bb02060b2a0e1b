/* Sorts numbers by regular samples.
 *
 *     sample_sort [PROCESSES [SIZE]]
 *
 * Each process sorts its block and shows p samples of it to everyone. All pick the same p - 1 of the p * p samples, and
 * these say which process gets which numbers; what goes to one process is one message. Afterwards the numbers of
 * process s are not larger than those of process s + 1. Written for sizes of type size_t.
 */
#ifndef BSP_SIZE_T
#define BSP_SIZE_T
#endif
#include "program.h"

typedef unsigned int number;

/* The i-th of the numbers to sort; some come more than once. */
static number number_at(long i)
{
    unsigned long hash = (unsigned long)i * 2654435761UL & 0xffffffffUL;

    hash ^= hash >> 16;
    hash = hash * 2246822519UL & 0xffffffffUL;
    hash ^= hash >> 13;
    return (number)(hash % 3 == 0 ? hash & 0xffffUL : hash);
}

static int by_number(const void *left, const void *right)
{
    number a = *(const number *)left, b = *(const number *)right;

    return (a > b) - (a < b);
}

static void sort(number *numbers, long count)
{
    qsort(numbers, (size_t)count, sizeof(number), by_number);
}

/* How many of the sorted numbers are not larger than `limit`. */
static long count_up_to(const number *numbers, long count, number limit)
{
    long low = 0, high = count;

    while (low < high) {
        long middle = low + (high - low) / 2;

        if (numbers[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The numbers that part the processes: `limits[s]` is the largest of process s. Collective. */
static number *pick_limits(const number *numbers, long count)
{
    proc s, p = bsp_nprocs();
    number *samples = (number *)room_for((long)p * (long)p, sizeof(number));
    number *mine = (number *)room_for((long)p, sizeof(number)), *limits = (number *)room_for((long)p, sizeof(number));

    /* A process without numbers shows the largest one there is, which parts nothing. */
    for (s = 0; s < p; s++)
        mine[s] = count > 0 ? numbers[(long)s * count / (long)p] : (number)-1;
    bsp_push_reg(samples, (size_t)p * p * sizeof(number));
    bsp_sync();
    for (s = 0; s < p; s++)
        bsp_put(s, mine, samples, (size_t)bsp_pid() * p * sizeof(number), p * sizeof(number));
    bsp_pop_reg(samples);
    bsp_sync();

    sort(samples, (long)p * (long)p);
    for (s = 0; s + 1 < p; s++)
        limits[s] = samples[(s + 1) * p - 1];
    limits[p - 1] = (number)-1;
    free(samples);
    free(mine);
    return limits;
}

/* Sends each number where it belongs and sorts what has come. Gives how many those are. Collective. */
static long sample_sort(number **numbers, long count)
{
    size_t tag_bytes = 0, messages, bytes;
    long from, to, arrived = 0;
    number *limits, *sorted;
    void *tag, *payload;
    proc s;

    bsp_set_tagsize(&tag_bytes);
    sort(*numbers, count);
    limits = pick_limits(*numbers, count);
    for (s = 0, from = 0; s < bsp_nprocs(); s++, from = to) {
        to = count_up_to(*numbers, count, limits[s]);
        if (to > from)
            bsp_send(s, NULL, *numbers + from, (size_t)(to - from) * sizeof(number));
    }
    bsp_set_tagsize(&tag_bytes);
    bsp_sync();
    free(limits);

    bsp_qsize(&messages, &bytes);
    sorted = (number *)room_for((long)(bytes / sizeof(number)), sizeof(number));
    for (; messages > 0; messages--) {
        bytes = bsp_hpmove(&tag, &payload);
        memcpy(sorted + arrived, payload, bytes);
        arrived += (long)(bytes / sizeof(number));
    }
    if (bsp_hpmove(&tag, &payload) != (size_t)-1)
        bsp_abort("sample_sort: the queue has more messages than it said");
    sort(sorted, arrived);
    free(*numbers);
    *numbers = sorted;
    return arrived;
}

static void add(void *result, const void *left, const void *right, size_t nbytes)
{
    (void)nbytes;
    *(long *)result = *(const long *)left + *(const long *)right;
}

/* Compares this process's numbers with those at their place when one process sorts all. Collective. */
static void check(const number *numbers, long count, long n)
{
    number *all = (number *)room_for(n, sizeof(number));
    long i, end, total;

    bsp_scan(add, &count, &end, sizeof(long));
    bsp_fold(add, &count, &total, sizeof(long));
    if (total != n)
        bsp_abort("sample_sort: %ld numbers became %ld", n, total);
    for (i = 0; i < n; i++)
        all[i] = number_at(i);
    sort(all, n);
    for (i = 0; i < count; i++)
        if (numbers[i] != all[end - count + i])
            bsp_abort("sample_sort: at %ld is %u in place of %u", end - count + i, numbers[i], all[end - count + i]);
    free(all);
}

static void run(void)
{
    long i, n, p, s, first, count;
    number *numbers;
    double time;

    bsp_begin((proc)wanted_procs);
    n = shared_size();
    p = (long)bsp_nprocs();
    s = (long)bsp_pid();
    first = s * (n / p) + (s < n % p ? s : n % p);
    count = n / p + (s < n % p);
    numbers = (number *)room_for(count, sizeof(number));
    for (i = 0; i < count; i++)
        numbers[i] = number_at(first + i);

    bsp_sync();
    time = bsp_time();
    count = sample_sort(&numbers, count);
    bsp_sync();
    time = bsp_time() - time;

    check(numbers, count, n);
    bsp_sync();
    if (s == 0)
        printf("sample_sort: ok, %ld numbers on %ld processes, in %.6f s\n", n, p, time);
    free(numbers);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 100000);
    run();
    return 0;
}
