/* LU decomposition with partial pivoting.
 *
 *     lu [PROCESSES [SIZE]]
 *
 * The p processes form a grid of M rows and N columns, and element (i, j) lies at the process in row i mod M and column
 * j mod N. Each of the n stages takes three steps: find the pivot, swap the rows, and hand out the multipliers and the
 * pivot row. Process zero then gathers L, U and the permutation, and multiplies them to see whether PA = LU.
 */
#include <float.h>
#include <math.h>

#include "program.h"

/* The best pivot of a process: its element and its row; no row is -1. */
typedef struct {
    double value;
    double row;
} candidate;

/* One process's part of the matrix, row by row, and what the others write to it. */
typedef struct {
    long n;
    long grid_rows, grid_columns; /* M and N */
    long s, t;                    /* the place of this process in the grid */
    long rows, columns;           /* of the local part */
    double *a;
    double *multipliers;   /* of the local rows, at this stage */
    double *pivot_row;     /* of the local columns, at this stage */
    candidate *candidates; /* of each row of the grid */
    candidate pivot;       /* the best of them, at this stage */
} part;

/* How many of the indices from 0 to n - 1 belong to place `at` of `places`. */
static long count_of(long n, long at, long places)
{
    return (n - at + places - 1) / places;
}

/* The first local index whose global one is at least k. */
static long first_from(long k, long at, long places)
{
    return k <= at ? 0 : (k - at + places - 1) / places;
}

static proc process_at(const part *m, long s, long t)
{
    return (proc)(s + t * m->grid_rows);
}

/* An element of the matrix that is decomposed: without structure, and the same for every number of processes. */
static double element(long i, long j)
{
    unsigned long hash = (unsigned long)i * 2654435761UL + (unsigned long)j * 40503UL + 12345UL;

    hash ^= (hash & 0xffffffffUL) >> 15;
    hash = hash * 2246822519UL & 0xffffffffUL;
    hash ^= hash >> 13;
    hash = hash * 3266489917UL & 0xffffffffUL;
    hash ^= hash >> 16;
    return (double)(hash & 0xffffffUL) / 8388608.0 - 1.0;
}

static void make_part(part *m, long n)
{
    long p = (long)bsp_nprocs(), i, j;

    m->n = n;
    m->grid_rows = 1;
    for (i = 1; i * i <= p; i++)
        if (p % i == 0)
            m->grid_rows = i;
    m->grid_columns = p / m->grid_rows;
    m->s = (long)bsp_pid() % m->grid_rows;
    m->t = (long)bsp_pid() / m->grid_rows;
    m->rows = count_of(n, m->s, m->grid_rows);
    m->columns = count_of(n, m->t, m->grid_columns);
    m->a = (double *)room_for(m->rows * m->columns, sizeof(double));
    m->multipliers = (double *)room_for(m->rows, sizeof(double));
    m->pivot_row = (double *)room_for(m->columns, sizeof(double));
    m->candidates = (candidate *)room_for(m->grid_rows, sizeof(candidate));
    for (i = 0; i < m->rows; i++)
        for (j = 0; j < m->columns; j++)
            m->a[i * m->columns + j] = element(m->s + i * m->grid_rows, m->t + j * m->grid_columns);
    bsp_push_reg(m->a, (extent)(m->rows * m->columns * (long)sizeof(double)));
    bsp_push_reg(m->multipliers, (extent)(m->rows * (long)sizeof(double)));
    bsp_push_reg(m->pivot_row, (extent)(m->columns * (long)sizeof(double)));
    bsp_push_reg(m->candidates, (extent)(m->grid_rows * (long)sizeof(candidate)));
    bsp_sync();
}

static void drop_part(part *m)
{
    bsp_pop_reg(m->a);
    bsp_pop_reg(m->multipliers);
    bsp_pop_reg(m->pivot_row);
    bsp_pop_reg(m->candidates);
    bsp_sync();
    free(m->a);
    free(m->multipliers);
    free(m->pivot_row);
    free(m->candidates);
}

/* Finds the largest element of column k, on and below the diagonal; among equals the first. */
static void find_pivot(part *m, long k)
{
    candidate best;
    long i, s;
    proc q;

    if (m->t == k % m->grid_columns) {
        best.value = 0;
        best.row = -1;
        for (i = first_from(k, m->s, m->grid_rows); i < m->rows; i++) {
            double value = m->a[i * m->columns + k / m->grid_columns];

            if (best.row < 0 || fabs(value) > fabs(best.value)) {
                best.value = value;
                best.row = (double)(m->s + i * m->grid_rows);
            }
        }
        for (q = 0; q < bsp_nprocs(); q++)
            bsp_put(q, &best, m->candidates, (extent)(m->s * (long)sizeof best), sizeof best);
    }
    bsp_sync();

    best = m->candidates[0];
    for (s = 1; s < m->grid_rows; s++) {
        const candidate *other = &m->candidates[s];
        double difference = fabs(other->value) - fabs(best.value);

        if (other->row >= 0 && (best.row < 0 || difference > 0 || (difference == 0 && other->row < best.row)))
            best = *other;
    }
    if (best.row < k || best.row >= m->n || best.value == 0)
        bsp_abort("lu: column %ld has no pivot, so the matrix is singular", k);
    m->pivot = best;
}

/* Puts the local part of row `from` to where row `to` lies. */
static void put_row(part *m, long from, long to)
{
    extent bytes = (extent)(m->columns * (long)sizeof(double));

    if (m->s == from % m->grid_rows)
        bsp_put(process_at(m, to % m->grid_rows, m->t), m->a + from / m->grid_rows * m->columns, m->a,
                (extent)(to / m->grid_rows) * bytes, bytes);
}

/* Both rows are read before either is written, so they swap within one step. */
static void swap_rows(part *m, long k, long *order)
{
    long row = (long)m->pivot.row, kept = order[k];

    if (row != k) {
        put_row(m, k, row);
        put_row(m, row, k);
    }
    order[k] = order[row];
    order[row] = kept;
    bsp_sync();
}

/* The pivot row goes along the columns of the grid, the multipliers go along its rows. */
static void hand_out(part *m, long k)
{
    long i_first = first_from(k + 1, m->s, m->grid_rows), j_first = first_from(k, m->t, m->grid_columns);
    long i, other, bytes;

    if (m->s == k % m->grid_rows) {
        bytes = (m->columns - j_first) * (long)sizeof(double);
        for (other = 0; other < m->grid_rows; other++)
            bsp_put(process_at(m, other, m->t), m->a + k / m->grid_rows * m->columns + j_first, m->pivot_row,
                    (extent)(j_first * (long)sizeof(double)), (extent)bytes);
    }
    if (m->t == k % m->grid_columns) {
        double *mine = (double *)room_for(m->rows, sizeof(double));

        for (i = i_first; i < m->rows; i++) {
            m->a[i * m->columns + k / m->grid_columns] /= m->pivot.value;
            mine[i] = m->a[i * m->columns + k / m->grid_columns];
        }
        bytes = (m->rows - i_first) * (long)sizeof(double);
        for (other = 0; other < m->grid_columns; other++)
            bsp_put(process_at(m, m->s, other), mine + i_first, m->multipliers,
                    (extent)(i_first * (long)sizeof(double)), (extent)bytes);
        free(mine);
    }
    bsp_sync();
}

static void update(part *m, long k)
{
    long i, j, j_first = first_from(k + 1, m->t, m->grid_columns);

    for (i = first_from(k + 1, m->s, m->grid_rows); i < m->rows; i++)
        for (j = j_first; j < m->columns; j++)
            m->a[i * m->columns + j] -= m->multipliers[i] * m->pivot_row[j];
}

/* Sends every local row to process zero, which lays out the whole matrix. Elsewhere NULL. */
static double *gather(part *m)
{
    extent tag_bytes = (extent)(2 * sizeof(long));
    long i, j, tag[2];
    double *all = NULL;
    void *tag_at, *payload;

    bsp_set_tagsize(&tag_bytes);
    bsp_sync();
    for (i = 0; i < m->rows; i++) {
        tag[0] = m->s + i * m->grid_rows;
        tag[1] = m->t;
        bsp_send(0, tag, m->a + i * m->columns, (extent)(m->columns * (long)sizeof(double)));
    }
    bsp_set_tagsize(&tag_bytes);
    bsp_sync();
    if (bsp_pid() == 0) {
        extent bytes;

        all = (double *)room_for(m->n * m->n, sizeof(double));
        while ((bytes = bsp_hpmove(&tag_at, &payload)) != (extent)-1) {
            memcpy(tag, tag_at, sizeof tag);
            for (j = 0; j < (long)(bytes / sizeof(double)); j++)
                all[tag[0] * m->n + tag[1] + j * m->grid_columns] = ((const double *)payload)[j];
        }
    }
    return all;
}

/* The largest element of PA - LU, which must be within rounding of zero. */
static double check(const double *all, const long *order, long n)
{
    double *row = (double *)room_for(n, sizeof(double));
    double error = 0, largest = 0;
    long i, j, k;

    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) {
            row[j] = element(order[i], j);
            if (j < i && fabs(all[i * n + j]) > 1)
                bsp_abort("lu: the multiplier at (%ld, %ld) is %g, so the pivot was wrong", i, j, all[i * n + j]);
        }
        for (k = 0; k <= i; k++) {
            double multiplier = k < i ? all[i * n + k] : 1;

            for (j = k; j < n; j++)
                row[j] -= multiplier * all[k * n + j];
        }
        for (j = 0; j < n; j++) {
            error = fabs(row[j]) > error ? fabs(row[j]) : error;
            largest = j >= i && fabs(all[i * n + j]) > largest ? fabs(all[i * n + j]) : largest;
        }
    }
    free(row);
    if (!(error <= 4 * (double)n * DBL_EPSILON * largest))
        bsp_abort("lu: PA and LU differ by %g", error);
    return error;
}

static void run(void)
{
    part m;
    long n, k, *order;
    double time, *all;

    bsp_begin((proc)wanted_procs);
    n = shared_size();
    make_part(&m, n);
    order = (long *)room_for(n, sizeof(long));
    for (k = 0; k < n; k++)
        order[k] = k;

    time = bsp_time();
    for (k = 0; k < n; k++) {
        find_pivot(&m, k);
        swap_rows(&m, k, order);
        hand_out(&m, k);
        update(&m, k);
    }
    bsp_sync();
    time = bsp_time() - time;

    all = gather(&m);
    if (bsp_pid() == 0) {
        double error = check(all, order, n);

        printf("lu: ok, %ld by %ld on a grid of %ld by %ld, PA - LU is at most %.2g, in %.6f s\n", n, n, m.grid_rows,
               m.grid_columns, error, time);
    }
    free(all);
    free(order);
    drop_part(&m);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 200);
    run();
    return 0;
}
