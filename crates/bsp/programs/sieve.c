/* Counts the primes up to SIZE.
 *
 *     sieve [PROCESSES [SIZE]]
 *
 * Process zero finds the primes up to the square root and broadcasts them; each process strikes out their multiples in
 * its block. The count is compared with that of one process alone, and with the known one if SIZE is a power of ten.
 */
#include "program.h"

/* What is known of the primes in a range. */
typedef struct {
    long count;
    long largest;
    double sum;
} primes;

/* Strikes out the multiples of the `count` primes in `base` among first .. first + length - 1. */
static void strike(char *struck, long first, long length, const long *base, long count)
{
    long i, at;

    for (i = 0; i < count; i++) {
        long prime = base[i];

        at = prime * prime >= first ? prime * prime : (first + prime - 1) / prime * prime;
        for (; at < first + length; at += prime)
            struck[at - first] = 1;
    }
}

static primes count_in(const char *struck, long first, long length)
{
    primes found = {0, 0, 0};
    long i;

    for (i = 0; i < length; i++)
        if (first + i >= 2 && !struck[i]) {
            found.count++;
            found.largest = first + i;
            found.sum += (double)(first + i);
        }
    return found;
}

/* Lists the primes up to `limit` in `base`, by trial division with those that are listed already. */
static long list_primes(long *base, long limit)
{
    long number, i, count = 0;

    for (number = 2; number <= limit; number++) {
        for (i = 0; i < count && base[i] * base[i] <= number && number % base[i] != 0; i++)
            ;
        if (i == count || base[i] * base[i] > number)
            base[count++] = number;
    }
    return count;
}

static void join(void *result, const void *left, const void *right, extent nbytes)
{
    primes a, b;

    (void)nbytes;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a.count += b.count;
    a.largest = b.largest > a.largest ? b.largest : a.largest;
    a.sum += b.sum;
    memcpy(result, &a, sizeof a);
}

/* The primes up to `n`, at every process. Collective. */
static primes sieve(long n)
{
    long p = (long)bsp_nprocs(), s = (long)bsp_pid(), root = 1, first, end, count = 0, *base;
    char *struck;
    primes mine, all;

    while (root < n / root)
        root++;
    base = (long *)room_for(root + 1, sizeof(long));
    if (s == 0)
        count = list_primes(base, root);
    bsp_bcast(0, &count, sizeof(long));
    bsp_bcast(0, base, (extent)(count * (long)sizeof(long)));

    /* Blocks of 0 .. n whose lengths differ by one at most. */
    first = s * ((n + 1) / p) + (s < (n + 1) % p ? s : (n + 1) % p);
    end = first + (n + 1) / p + (s < (n + 1) % p);
    struck = (char *)room_for(end - first, 1);
    strike(struck, first, end - first, base, count);
    mine = count_in(struck, first, end - first);
    bsp_fold(join, &mine, &all, sizeof mine);
    free(struck);
    free(base);
    return all;
}

/* One process alone, without any of the above. */
static primes sieve_alone(long n)
{
    char *struck = (char *)room_for(n + 1, 1);
    long i, at;
    primes found;

    for (i = 2; i <= n / i; i++)
        if (!struck[i])
            for (at = i * i; at <= n; at += i)
                struck[at] = 1;
    found = count_in(struck, 0, n + 1);
    free(struck);
    return found;
}

static void check(const primes *found, long n)
{
    static const long known[9] = {4, 25, 168, 1229, 9592, 78498, 664579, 5761455, 50847534};
    primes alone = sieve_alone(n);
    long power = 10;
    int i;

    if (found->count != alone.count || found->largest != alone.largest || found->sum != alone.sum)
        bsp_abort("sieve: found %ld primes up to %ld, alone %ld up to %ld", found->count, found->largest, alone.count,
                  alone.largest);
    for (i = 0; i < 9; i++, power *= 10)
        if (power == n && found->count != known[i])
            bsp_abort("sieve: there are %ld primes up to %ld, not %ld", known[i], n, found->count);
}

static void run(void)
{
    long n;
    double time;
    primes found;

    bsp_begin((proc)wanted_procs);
    n = shared_size();
    bsp_sync();
    time = bsp_time();
    found = sieve(n);
    time = bsp_time() - time;
    check(&found, n);
    bsp_sync();
    if (bsp_pid() == 0)
        printf("sieve: ok, %ld primes up to %ld, the largest is %ld, on %d processes, in %.6f s\n", found.count, n,
               found.largest, (int)bsp_nprocs(), time);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 1000000);
    run();
    return 0;
}
