/* Two kernels of the NAS benchmarks in C and MPI, as one would write them by hand.
 *
 *     nas is KEYS VALUES ITERATIONS PLACE RANK ...
 *     nas cg ORDER NONZERO SHIFT ITERATIONS ZETA
 *
 * The last arguments say what must come out. Every process prints one line: the seconds it took, and, of the first one,
 * whether that was right. */

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, procs;

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        fprintf(stderr, "nas: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* The suite's random numbers: x <- 5^13 x mod 2^46. */
static const uint64_t FACTOR = 1220703125, MASK = ((uint64_t)1 << 46) - 1, SEED = 314159265;

static double draw(uint64_t *state)
{
    *state = *state * FACTOR & MASK;
    return (double)*state * 0x1p-46;
}

static uint64_t skipped(uint64_t state, uint64_t count)
{
    for (uint64_t factor = FACTOR; count > 0; count >>= 1) {
        if (count & 1)
            state = state * factor & MASK;
        factor = factor * factor & MASK;
    }
    return state;
}

/* Where this process's, or another's, part of so many things begins. */
static size_t start_of(size_t count, int of)
{
    return count * (size_t)of / (size_t)procs;
}

static int *parts_of(size_t count, int **starts)
{
    int *counts = room((size_t)procs, sizeof *counts);
    *starts = room((size_t)procs, sizeof **starts);
    for (int of = 0; of < procs; of++) {
        (*starts)[of] = (int)start_of(count, of);
        counts[of] = (int)(start_of(count, of + 1) - start_of(count, of));
    }
    return counts;
}

/* Everybody counts its keys; the counts are added up where values belong. */
static int integers(char **words, double *seconds)
{
    size_t len = strtoull(words[0], NULL, 10), most = strtoull(words[1], NULL, 10);
    int iterations = atoi(words[2]), is_right = 1, *starts;
    size_t first = start_of(len, rank), mine = start_of(len, rank + 1) - first;
    size_t low = start_of(most, rank), here = start_of(most, rank + 1) - low;
    int *parts = parts_of(most, &starts);
    int32_t *keys = room(mine, sizeof *keys), *counts = room(most, sizeof *counts), *ranks = room(here, sizeof *ranks);
    uint64_t state = skipped(SEED, 4 * first);
    for (size_t at = 0; at < mine; at++) {
        double sum = draw(&state);
        for (int time = 0; time < 3; time++)
            sum += draw(&state);
        keys[at] = (int32_t)((double)(most / 4) * sum);
    }
    for (int iteration = 0; iteration <= iterations; iteration++) {
        /* The first one is not counted. */
        size_t i = iteration == 0 ? 1 : (size_t)iteration;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (first <= i && i < first + mine)
            keys[i - first] = (int32_t)i;
        if (first <= i + 10 && i + 10 < first + mine)
            keys[i + 10 - first] = (int32_t)(most - i);
        memset(counts, 0, most * sizeof *counts);
        for (size_t at = 0; at < mine; at++)
            counts[keys[at]]++;
        MPI_Reduce_scatter(counts, ranks, parts, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
        int32_t below = 0, before = 0;
        for (size_t at = 0; at < here; at++) {
            int32_t count = ranks[at];
            ranks[at] = below;
            below += count;
        }
        MPI_Exscan(&below, &before, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
        for (size_t at = 0; rank > 0 && at < here; at++)
            ranks[at] += before;
        *seconds += iteration == 0 ? 0 : MPI_Wtime() - start;
    }
    for (char **word = words + 3; word[0] != NULL && word[1] != NULL; word += 2) {
        size_t place = strtoull(word[0], NULL, 10);
        int32_t key = first <= place && place < first + mine ? keys[place - first] : -1, found = -1;
        MPI_Allreduce(MPI_IN_PLACE, &key, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
        if (low <= (size_t)key && (size_t)key < low + here)
            found = ranks[(size_t)key - low];
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
        is_right &= found == atoi(word[1]);
    }
    return is_right;
}

struct entry { uint32_t row, column, number; double value; };

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct rows { size_t count, *starts; uint32_t *columns; double *values; };

/* This process's rows of the matrix. */
static struct rows make_rows(size_t order, size_t nonzero, double shift)
{
    size_t low = start_of(order, rank), high = start_of(order, rank + 1), size = 1, count = 0;
    struct entry *entries = room(order * (nonzero + 1) * (nonzero + 1), sizeof *entries);
    uint32_t *places = room(nonzero + 1, sizeof *places);
    double *values = room(nonzero + 1, sizeof *values), weight = 1, ratio = pow(0.1, 1.0 / (double)order);
    uint64_t state = skipped(SEED, 1);
    while (size < order)
        size *= 2;
    for (size_t i = 0; i < order; i++, weight *= ratio) {
        size_t len = 0, at;
        while (len < nonzero) {
            double value = draw(&state);
            uint32_t place = (uint32_t)((double)size * draw(&state));
            for (at = 0; at < len && places[at] != place; at++) {}
            if (place < order && at == len)
                places[len] = place, values[len++] = value;
        }
        for (at = 0; at < len && places[at] != i; at++) {}
        places[at] = (uint32_t)i, values[at] = 0.5;
        len = at == len ? len + 1 : len;
        for (size_t a = 0; a < len; a++)
            for (size_t b = 0; low <= places[a] && places[a] < high && b < len; b++) {
                double shifted = places[a] == i && places[b] == i ? 0.1 - shift : 0;
                struct entry entry = { places[a], places[b], (uint32_t)count, values[b] * (weight * values[a]) + shifted };
                entries[count++] = entry;
            }
    }
    qsort(entries, count, sizeof *entries, by_place);
    struct rows rows = { high - low, room(high - low + 1, sizeof(size_t)), room(count, 4), room(count, sizeof(double)) };
    size_t kept = 0;
    for (size_t at = 0; at < count; at++) {
        if (at > 0 && entries[at].row == entries[at - 1].row && entries[at].column == entries[at - 1].column) {
            rows.values[kept - 1] += entries[at].value;
            continue;
        }
        rows.columns[kept] = entries[at].column, rows.values[kept++] = entries[at].value;
        rows.starts[entries[at].row - low + 1] = kept;
    }
    free(entries);
    return rows;
}

static double total(const double *x, const double *y, size_t count)
{
    double mine = 0, sum;
    for (size_t at = 0; at < count; at++)
        mine += x[at] * y[at];
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static int gradients(char **words, double *seconds)
{
    size_t order = strtoull(words[0], NULL, 10), nonzero = strtoull(words[1], NULL, 10);
    double shift = strtod(words[2], NULL), zeta = 0, start = 0;
    int iterations = atoi(words[3]), *starts, *parts = parts_of(order, &starts);
    struct rows a = make_rows(order, nonzero, shift);
    size_t n = a.count;
    double *x = room(n, sizeof *x), *z = room(n, sizeof *z), *r = room(n, sizeof *r), *p = room(n, sizeof *p);
    double *q = room(n, sizeof *q), *all = room(order, sizeof *all);
    for (int iteration = 0; iteration <= iterations; iteration++) {
        if (iteration <= 1) {
            /* The first one is not counted. */
            for (size_t at = 0; at < n; at++)
                x[at] = 1;
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        memset(z, 0, n * sizeof *z);
        memcpy(r, x, n * sizeof *r);
        memcpy(p, x, n * sizeof *p);
        double rho = total(r, r, n);
        for (int step = 0; step < 25; step++) {
            MPI_Allgatherv(p, (int)n, MPI_DOUBLE, all, parts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
            for (size_t row = 0; row < n; row++) {
                double sum = 0;
                for (size_t at = a.starts[row]; at < a.starts[row + 1]; at++)
                    sum += a.values[at] * all[a.columns[at]];
                q[row] = sum;
            }
            double alpha = rho / total(p, q, n), before = rho;
            for (size_t at = 0; at < n; at++) {
                z[at] += alpha * p[at];
                r[at] -= alpha * q[at];
            }
            rho = total(r, r, n);
            for (size_t at = 0; at < n; at++)
                p[at] = r[at] + rho / before * p[at];
        }
        double xz = total(x, z, n), norm = 1 / sqrt(total(z, z, n));
        zeta = shift + 1 / xz;
        for (size_t at = 0; at < n; at++)
            x[at] = norm * z[at];
    }
    *seconds = MPI_Wtime() - start;
    return fabs(zeta / strtod(words[4], NULL) - 1) <= 1e-10;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &procs);
    double seconds = 0;
    int is_right = 0;
    if (argc > 5 && strcmp(argv[1], "is") == 0)
        is_right = integers(argv + 2, &seconds);
    else if (argc == 7 && strcmp(argv[1], "cg") == 0)
        is_right = gradients(argv + 2, &seconds);
    else {
        fprintf(stderr, "nas: no such task; see the top of nas.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    printf("answer: %.9f %d\n", seconds, rank == 0 ? is_right : 0);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
