/* PageRank in C and MPI, as one would write it by hand.
 *
 *     gap VERTICES FILE ITERATIONS TOLERANCE VERTEX ...
 *
 * The file has a graph in compressed rows, as 64-bit starts and 32-bit targets; edges lead both ways. The last arguments
 * are the vertices that must come out with the highest scores, by number. Every process prints one line: the seconds it
 * took, and, of the first one, whether that was right. */

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, procs;

static void fail(const char *why)
{
    fprintf(stderr, "gap: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL)
        fail("no memory");
    return memory;
}

static size_t start_of(size_t count, int of)
{
    return count * (size_t)of / (size_t)procs;
}

/* So many things from a place in a file on. */
static void *load(FILE *file, size_t at, size_t count, size_t size)
{
    void *things = room(count, size);
    if (fseek(file, (long)at, SEEK_SET) != 0 || fread(things, size, count, file) != count)
        fail("the graph cannot be read");
    return things;
}

/* One whole run. The scores of this process's vertices are left in `scores`; returns the seconds. */
static double ranks(const uint64_t *starts, const uint32_t *targets, size_t vertices, int iterations, double tolerance,
                    float *scores)
{
    const float damping = 0.85f, base = (1 - damping) / (float)vertices;
    size_t low = start_of(vertices, rank), here = start_of(vertices, rank + 1) - low;
    int *counts = room((size_t)procs, sizeof *counts), *places = room((size_t)procs, sizeof *places);
    for (int of = 0; of < procs; of++) {
        places[of] = (int)start_of(vertices, of);
        counts[of] = (int)(start_of(vertices, of + 1) - start_of(vertices, of));
    }
    float *leaving = room(vertices, sizeof *leaving);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (size_t at = 0; at < here; at++)
        scores[at] = 1 / (float)vertices;
    for (int iteration = 0; iteration < iterations; iteration++) {
        for (size_t at = 0; at < here; at++)
            leaving[low + at] = scores[at] / (float)(starts[at + 1] - starts[at]);
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, leaving, counts, places, MPI_FLOAT, MPI_COMM_WORLD);
        double change = 0;
        for (size_t at = 0; at < here; at++) {
            float coming = 0;
            for (uint64_t edge = starts[at] - starts[0]; edge < starts[at + 1] - starts[0]; edge++)
                coming += leaving[targets[edge]];
            float score = base + damping * coming;
            change += fabsf(score - scores[at]);
            scores[at] = score;
        }
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (change < tolerance)
            break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    free(leaving), free(counts), free(places);
    return seconds;
}

/* Whether these vertices have the highest scores: nobody else has a higher one than the lowest of theirs. */
static int are_highest(char **words, const float *scores, size_t low, size_t here)
{
    int count = 0, is_right = 1;
    float lowest = INFINITY;
    for (; words[count] != NULL; count++) {
        size_t vertex = strtoull(words[count], NULL, 10);
        if (low <= vertex && vertex < low + here)
            lowest = fminf(lowest, scores[vertex - low]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD);
    int not_lower = 0;
    for (size_t at = 0; at < here; at++)
        not_lower += scores[at] >= lowest;
    MPI_Allreduce(MPI_IN_PLACE, &not_lower, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is_right &= not_lower == count;
    return is_right;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    if (argc < 6)
        fail("no such task; see the top of gap.c");
    size_t vertices = strtoull(argv[1], NULL, 10);
    size_t low = start_of(vertices, rank), here = start_of(vertices, rank + 1) - low;
    FILE *file = fopen(argv[2], "rb");
    if (file == NULL)
        fail("the graph is not there");
    uint64_t *starts = load(file, low * sizeof *starts, here + 1, sizeof *starts);
    size_t first = (vertices + 1) * sizeof *starts + starts[0] * sizeof(uint32_t);
    uint32_t *targets = load(file, first, starts[here] - starts[0], sizeof *targets);
    fclose(file);
    float *scores = room(here, sizeof *scores);
    double seconds = 0;
    /* The last time counts. */
    for (int time = 0; time < 3; time++)
        seconds = ranks(starts, targets, vertices, atoi(argv[3]), strtod(argv[4], NULL), scores);
    int is_right = are_highest(argv + 5, scores, low, here);
    printf("answer: %.9f %d\n", seconds, rank == 0 ? is_right : 0);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
