/* A sparse matrix times a vector, several times over.
 *
 *     spmv [PROCESSES [SIZE]]
 *
 * Rows and vectors lie in blocks. Before the first product each process asks the owners, by messages, for the elements
 * of the vector that its rows touch; an owner remembers who asked, and before each product puts the elements where they
 * are needed. The areas that are put to come from bsp_alloc. Written for sizes of type size_t.
 */
#ifndef BSP_SIZE_T
#define BSP_SIZE_T
#endif
#include <math.h>

#include "program.h"

#define ENTRIES 9 /* in each row */
#define PRODUCTS 5

/* An element of this process's block that somebody needs, and where. */
typedef struct {
    long local;
    proc target;
    size_t slot;
} wish;

/* What a message is marked with: who asks, and for which slot. */
typedef struct {
    proc source;
    size_t slot;
} request;

typedef struct {
    long n, first, count, share; /* of the rows: all, where mine begin, mine, those of each process but the last */
    long *columns;               /* ENTRIES for each row: while it is built the column, then its slot */
    double *values;              /* the same */
    long slots;                  /* how many different columns my rows touch */
    double *halo;                /* their elements, written by the owners */
    wish *wishes;
    long wish_count;
} matrix;

/* The e-th entry of row i: the diagonal, three neighbours on either side, and two from anywhere. */
static long column_of(long i, int e, long n)
{
    static const long near[7] = {0, -1, 1, -2, 2, -3, 3};

    if (e < 7)
        return ((i + near[e]) % n + n) % n;
    return (i * 31 + (long)e * 1237 + i / 5 * 97) % n;
}

static double value_of(long i, int e)
{
    return e == 0 ? 0.5 : 0.5 / ENTRIES * (double)((i * 13 + e * 7) % 11 - 5) / 5;
}

static double start_of(long i)
{
    return 1 + (double)(i * 17 % 101) / 101;
}

static int by_number(const void *left, const void *right)
{
    long a = *(const long *)left, b = *(const long *)right;

    return (a > b) - (a < b);
}

/* Where `column` stands in the sorted `columns`. */
static long slot_of(const long *columns, long count, long column)
{
    const long *found = (const long *)bsearch(&column, columns, (size_t)count, sizeof(long), by_number);

    if (found == NULL)
        bsp_abort("spmv: column %ld was forgotten", column);
    return (long)(found - columns);
}

/* Replaces the columns by slots, and gives the column of each slot. */
static long *number_slots(matrix *m)
{
    long i, entries = m->count * ENTRIES, *touched = (long *)room_for(entries, sizeof(long));

    memcpy(touched, m->columns, (size_t)entries * sizeof(long));
    qsort(touched, (size_t)entries, sizeof(long), by_number);
    m->slots = 0;
    for (i = 0; i < entries; i++)
        if (i == 0 || touched[i] != touched[i - 1])
            touched[m->slots++] = touched[i];
    for (i = 0; i < entries; i++)
        m->columns[i] = slot_of(touched, m->slots, m->columns[i]);
    return touched;
}

/* Asks the owner of each column, and notes what the others ask for. Collective. */
static void ask(matrix *m, const long *touched)
{
    size_t tag_bytes = sizeof(request), messages, bytes, status;
    request tag;
    long i;

    bsp_set_tagsize(&tag_bytes);
    bsp_sync();
    memset(&tag, 0, sizeof tag);
    tag.source = bsp_pid();
    for (i = 0; i < m->slots; i++) {
        tag.slot = (size_t)i;
        bsp_send((proc)(touched[i] / m->share), &tag, &touched[i], sizeof(long));
    }
    bsp_set_tagsize(&tag_bytes);
    bsp_sync();

    bsp_qsize(&messages, &bytes);
    if (bytes != messages * sizeof(long))
        bsp_abort("spmv: %lu requests have %lu bytes", (unsigned long)messages, (unsigned long)bytes);
    m->wish_count = (long)messages;
    m->wishes = (wish *)room_for(m->wish_count, sizeof(wish));
    for (i = 0; i < m->wish_count; i++) {
        long column;

        bsp_get_tag(&status, &tag);
        bsp_move(&column, sizeof(long));
        if (status != sizeof(long) || column < m->first || column >= m->first + m->count)
            bsp_abort("spmv: process %u asked for column %ld, which is not mine", tag.source, column);
        m->wishes[i].local = column - m->first;
        m->wishes[i].target = tag.source;
        m->wishes[i].slot = tag.slot;
    }
    bsp_get_tag(&status, &tag);
    if (status != (size_t)-1)
        bsp_abort("spmv: the queue has more messages than it said");
}

static void make_matrix(matrix *m, long n)
{
    long i, *touched, p = (long)bsp_nprocs(), s = (long)bsp_pid();
    int e;

    m->n = n;
    m->share = (n + p - 1) / p;
    m->first = s * m->share < n ? s * m->share : n;
    m->count = m->first + m->share < n ? m->share : n - m->first;
    m->columns = (long *)room_for(m->count * ENTRIES, sizeof(long));
    m->values = (double *)room_for(m->count * ENTRIES, sizeof(double));
    for (i = 0; i < m->count; i++)
        for (e = 0; e < ENTRIES; e++) {
            m->columns[i * ENTRIES + e] = column_of(m->first + i, e, n);
            m->values[i * ENTRIES + e] = value_of(m->first + i, e);
        }
    touched = number_slots(m);
    m->halo = (double *)bsp_alloc((size_t)(m->slots + 1) * sizeof(double));
    if (m->halo == NULL)
        bsp_abort("spmv: no memory for %ld elements", m->slots);
    bsp_push_reg(m->halo, (size_t)m->slots * sizeof(double));
    ask(m, touched);
    free(touched);
}

/* y = A x. Collective. */
static void multiply(matrix *m, const double *x, double *y)
{
    long i;
    int e;

    for (i = 0; i < m->wish_count; i++) {
        const wish *w = &m->wishes[i];

        bsp_put(w->target, &x[w->local], m->halo, w->slot * sizeof(double), sizeof(double));
    }
    bsp_sync();
    for (i = 0; i < m->count; i++) {
        y[i] = 0;
        for (e = 0; e < ENTRIES; e++)
            y[i] += m->values[i * ENTRIES + e] * m->halo[m->columns[i * ENTRIES + e]];
    }
}

/* The same products by one process, for the elements of this one. */
static void check(const matrix *m, const double *x)
{
    double *from = (double *)room_for(m->n, sizeof(double)), *to = (double *)room_for(m->n, sizeof(double)), *kept;
    long i;
    int e, round;

    for (i = 0; i < m->n; i++)
        from[i] = start_of(i);
    for (round = 0; round < PRODUCTS; round++) {
        for (i = 0; i < m->n; i++) {
            to[i] = 0;
            for (e = 0; e < ENTRIES; e++)
                to[i] += value_of(i, e) * from[column_of(i, e, m->n)];
        }
        kept = from;
        from = to;
        to = kept;
    }
    for (i = 0; i < m->count; i++)
        if (!(fabs(x[i] - from[m->first + i]) <= 1e-13))
            bsp_abort("spmv: element %ld is %.17g in place of %.17g", m->first + i, x[i], from[m->first + i]);
    free(from);
    free(to);
}

static void run(void)
{
    matrix m;
    double *x, *y, *kept, time;
    long i;
    int round;

    bsp_begin((proc)wanted_procs);
    make_matrix(&m, shared_size());
    x = (double *)room_for(m.count, sizeof(double));
    y = (double *)room_for(m.count, sizeof(double));
    for (i = 0; i < m.count; i++)
        x[i] = start_of(m.first + i);

    bsp_sync();
    time = bsp_time();
    for (round = 0; round < PRODUCTS; round++) {
        multiply(&m, x, y);
        kept = x;
        x = y;
        y = kept;
    }
    bsp_sync();
    time = bsp_time() - time;

    check(&m, x);
    bsp_sync();
    if (bsp_pid() == 0)
        printf("spmv: ok, %d products of %ld rows with %d entries each on %u processes, in %.6f s\n", PRODUCTS, m.n,
               ENTRIES, bsp_nprocs(), time);
    bsp_pop_reg(m.halo);
    bsp_sync();
    bsp_free(m.halo);
    free(m.columns);
    free(m.values);
    free(m.wishes);
    free(x);
    free(y);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 20000);
    run();
    return 0;
}
