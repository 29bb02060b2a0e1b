/* The work of the comparison in C and MPI, as one would write it by hand: updates and questions are put into a bucket
 * for each owner, MPI_Alltoall tells the counts, and MPI_Alltoallv carries the buckets.
 *
 *     by_hand TASK BLOCK COUNT
 *
 * Every process prints one line: the seconds it took, and the digest of its part of the answer. Everything is done
 * three times, and the last time counts. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

static int rank, procs;

/* Memory on huge pages, all of it in place. */
static void *room(size_t bytes)
{
    size_t length = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, length);
    if (memory == NULL) {
        fprintf(stderr, "by_hand: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    madvise(memory, length, MADV_HUGEPAGE);
    memset(memory, 0, length);
    return memory;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The comparison's random numbers. */
static uint64_t stream(uint64_t number, int of)
{
    return mix(number << 32 | (uint64_t)of);
}

static uint64_t next(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    return mix(*state);
}

static uint64_t below(uint64_t *state, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)next(state) * bound) >> 64);
}

static uint64_t digest(uint64_t first, const uint64_t *values, size_t count)
{
    uint64_t sum = 0;
    for (size_t at = 0; at < count; at++)
        sum += mix(mix(first + at + 1) ^ values[at]);
    return sum;
}

/* A bucket for each process, with room for everything: how much is in it and where it begins, and the same for what
 * comes. */
struct buckets {
    int *counts, *starts, *received, *received_starts;
};

static struct buckets make_buckets(size_t capacity)
{
    int *all = calloc(4 * (size_t)procs, sizeof *all);
    struct buckets b = { all, all + procs, all + 2 * procs, all + 3 * procs };
    for (int to = 0; to < procs; to++)
        b.starts[to] = (int)(capacity * (size_t)to);
    return b;
}

struct work {
    uint32_t block;
    size_t count;
    uint64_t *indices, *values, *table, *into, *value_bucket, *value_arrived;
    uint32_t *bucket, *arrived;
    struct buckets owners;
};

/* Tells everybody how much is for it, and returns how much is for this process. */
static size_t tell_counts(struct buckets *b)
{
    int start = 0;
    MPI_Alltoall(b->counts, 1, MPI_INT, b->received, 1, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < procs; from++) {
        b->received_starts[from] = start;
        start += b->received[from];
    }
    return (size_t)start;
}

/* Puts the place of every index into the bucket of its owner, and exchanges the buckets. Indices have 32 bits, so that
 * the division is a cheap one. */
static size_t send_places(struct work *w)
{
    struct buckets *b = &w->owners;
    memset(b->counts, 0, (size_t)procs * sizeof *b->counts);
    for (size_t at = 0; at < w->count; at++) {
        uint32_t index = (uint32_t)w->indices[at], owner = index / w->block;
        w->bucket[b->starts[owner] + b->counts[owner]++] = index - owner * w->block;
    }
    size_t arrived = tell_counts(b);
    MPI_Alltoallv(w->bucket, b->counts, b->starts, MPI_UINT32_T, w->arrived, b->received, b->received_starts,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    return arrived;
}

static void increments(struct work *w)
{
    size_t arrived = send_places(w);
    for (size_t at = 0; at < arrived; at++)
        w->table[w->arrived[at]]++;
}

static void additions(struct work *w)
{
    struct buckets *b = &w->owners;
    memset(b->counts, 0, (size_t)procs * sizeof *b->counts);
    for (size_t at = 0; at < w->count; at++) {
        uint32_t index = (uint32_t)w->indices[at], owner = index / w->block;
        int place = b->starts[owner] + b->counts[owner]++;
        w->bucket[place] = index - owner * w->block;
        w->value_bucket[place] = w->values[at];
    }
    size_t arrived = tell_counts(b);
    MPI_Alltoallv(w->bucket, b->counts, b->starts, MPI_UINT32_T, w->arrived, b->received, b->received_starts,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    MPI_Alltoallv(w->value_bucket, b->counts, b->starts, MPI_UINT64_T, w->value_arrived, b->received,
                  b->received_starts, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t at = 0; at < arrived; at++)
        w->table[w->arrived[at]] += w->value_arrived[at];
}

static void loads(struct work *w)
{
    struct buckets *b = &w->owners;
    size_t arrived = send_places(w);
    for (size_t at = 0; at < arrived; at++)
        w->value_bucket[at] = w->table[w->arrived[at]];
    MPI_Alltoallv(w->value_bucket, b->received, b->received_starts, MPI_UINT64_T, w->value_arrived, b->counts,
                  b->starts, MPI_UINT64_T, MPI_COMM_WORLD);
    memset(b->counts, 0, (size_t)procs * sizeof *b->counts);
    for (size_t at = 0; at < w->count; at++) {
        uint32_t owner = (uint32_t)w->indices[at] / w->block;
        w->into[at] = w->value_arrived[b->starts[owner] + b->counts[owner]++];
    }
}

static void exchange(struct work *w)
{
    int other = (rank + 1) % procs, before = (rank + procs - 1) % procs;
    MPI_Request requests[2];
    for (size_t round = 0; round < w->count; round++) {
        MPI_Irecv(w->into, (int)w->block, MPI_UINT64_T, before, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(w->table, (int)w->block, MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void meetings(struct work *w)
{
    uint64_t mine = 1, sum = 0;
    for (size_t round = 0; round < w->count; round++)
        MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    w->into[0] = sum;
}

int main(int argc, char **argv)
{
    struct work w = { 0 };
    void (*work)(struct work *) = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    const char *task = argc > 3 ? argv[1] : "";
    int is_access = 1, is_read = 0;
    if (strcmp(task, "increments") == 0) work = increments;
    else if (strcmp(task, "additions") == 0) work = additions;
    else if (strcmp(task, "loads") == 0) work = loads, is_read = 1;
    else if (strcmp(task, "exchange") == 0) work = exchange, is_access = 0;
    else if (strcmp(task, "meetings") == 0) work = meetings, is_access = 0;
    else {
        fprintf(stderr, "by_hand: no such task; try increments, additions, loads, exchange or meetings\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    w.block = (uint32_t)strtoul(argv[2], NULL, 10);
    w.count = strtoull(argv[3], NULL, 10);
    if ((uint64_t)w.block * (uint64_t)procs > UINT32_MAX || w.count * (size_t)procs > INT32_MAX) {
        fprintf(stderr, "by_hand: that is more than 32 bits can count\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    w.owners = make_buckets(w.count);
    w.table = room(w.block * sizeof *w.table);
    if (is_access) {
        uint64_t state = stream(1, rank), values = stream(2, rank);
        size_t everything = w.count * (size_t)procs;
        w.indices = room(w.count * sizeof *w.indices);
        w.values = room(w.count * sizeof *w.values);
        for (size_t at = 0; at < w.count; at++) {
            w.indices[at] = below(&state, (uint64_t)w.block * (uint64_t)procs);
            w.values[at] = next(&values);
        }
        w.bucket = room(everything * sizeof *w.bucket);
        w.arrived = room(everything * sizeof *w.arrived);
        w.value_bucket = room(everything * sizeof *w.value_bucket);
        w.value_arrived = room(everything * sizeof *w.value_arrived);
        w.into = room(w.count * sizeof *w.into);
    } else {
        w.into = room((w.block + 1) * sizeof *w.into);
    }
    uint64_t first = (uint64_t)rank * w.block;
    for (uint64_t at = 0; (is_read || !is_access) && at < w.block; at++)
        w.table[at] = mix(first + at);
    double seconds = 0;
    for (int time = 0; time < 3; time++) {
        if (is_access && !is_read)
            memset(w.table, 0, w.block * sizeof *w.table);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        work(&w);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds = MPI_Wtime() - start;
    }
    uint64_t answer;
    if (work == meetings)
        answer = w.into[0];
    else if (is_access && !is_read)
        answer = digest(first, w.table, w.block);
    else if (is_read)
        answer = digest((uint64_t)rank * w.count, w.into, w.count);
    else
        answer = digest(first, w.into, w.block);
    printf("answer: %.9f %llu\n", seconds, (unsigned long long)answer);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
