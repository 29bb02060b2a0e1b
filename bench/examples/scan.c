/* Looks at each line of a file with one thread for each share, on mapped memory: as one would write it by hand.
 *
 *     scan FILE THREADS
 *
 * Prints the seconds it took and the sum of the squares of the lengths of lines. A share begins behind the first end of
 * a line in it, and ends with the line in which the next one begins. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *text;
static size_t len, threads;

struct share { pthread_t thread; size_t number; unsigned long sum; };

/* Where the first line begins at or behind a place. */
static const char *line_from(size_t at)
{
    if (at == 0 || at >= len)
        return text + (at < len ? at : len);
    const char *end = memchr(text + at - 1, '\n', len - at + 1);
    return end == NULL ? text + len : end + 1;
}

static void *scan(void *given)
{
    struct share *share = given;
    const char *at = line_from(len * share->number / threads), *end = line_from(len * (share->number + 1) / threads);
    unsigned long sum = 0;
    while (at < end) {
        const char *found = memchr(at, '\n', (size_t)(end - at)), *to = found == NULL ? end : found;
        sum += (unsigned long)(to - at) * (unsigned long)(to - at);
        at = to + 1;
    }
    share->sum = sum;
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    double start = now();
    int file = open(argv[1], O_RDONLY);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0)
        return 1;
    len = (size_t)stat.st_size, threads = strtoul(argv[2], NULL, 10);
    void *mapped = mmap(NULL, len, PROT_READ, MAP_PRIVATE, file, 0);
    struct share *shares = calloc(threads, sizeof *shares);
    if (mapped == MAP_FAILED || shares == NULL)
        return 1;
    madvise(mapped, len, MADV_SEQUENTIAL);
    text = mapped;
    for (size_t number = 0; number < threads; number++) {
        shares[number].number = number;
        if (pthread_create(&shares[number].thread, NULL, scan, &shares[number]) != 0)
            return 1;
    }
    unsigned long sum = 0;
    for (size_t number = 0; number < threads; number++) {
        pthread_join(shares[number].thread, NULL);
        sum += shares[number].sum;
    }
    printf("%.9f %lu\n", now() - start, sum);
    return 0;
}
