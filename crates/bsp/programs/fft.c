/* The discrete Fourier transform of a vector that lies cyclically over the processes.
 *
 *     fft [PROCESSES [SIZE]]
 *
 * Write m = n / p. Element j = s + p j' lies at process s. With k = a + m b, where a < m and b < p,
 *
 *     X(a + m b) = sum over s of w_p^(s b) * ( w_n^(s a) * sum over j' of w_m^(j' a) x(s + p j') )
 *
 * so each process transforms its m elements, twists them, and hands the a-th to process a mod p; there the p values of
 * each a are transformed. As p divides m, the result lies cyclically as well. One total exchange is all that is sent.
 *
 * The size is rounded up to a multiple of p * p. Any such size works; small prime factors make it fast.
 *
 * Some coefficients are compared with their sum, and the inverse must give back the input.
 */
#include <math.h>

#include "program.h"

static const double pi = 3.14159265358979323846;

/* Everything that a transform needs, for one direction. Complex numbers are pairs of doubles. */
typedef struct {
    long n, p, s, m;
    double *roots;   /* w_m^i for 0 <= i < m */
    double *small;   /* w_p^i for 0 <= i < p */
    double *twist;   /* w_n^(s a) for 0 <= a < m */
    double *scratch; /* m elements */
    double *packed;  /* m elements, to be sent */
    double *arrived; /* m elements, written by the others */
    double *column;  /* p elements */
    double *radix;   /* as many as the largest prime factor */
} plan;

/* w^i for i < count, where w is the first root of `order`. */
static double *powers(long count, long step, long order, int sign)
{
    double *table = (double *)room_for(2 * count, sizeof(double));
    long i;

    for (i = 0; i < count; i++) {
        /* step < p and i < m, so the product is below n. */
        double angle = 2 * pi * (double)(step * i % order) / (double)order;

        table[2 * i] = cos(angle);
        table[2 * i + 1] = sign * sin(angle);
    }
    return table;
}

static void make_plan(plan *f, long n, int sign)
{
    f->n = n;
    f->p = (long)bsp_nprocs();
    f->s = (long)bsp_pid();
    f->m = n / f->p;
    f->roots = powers(f->m, 1, f->m, sign);
    f->small = powers(f->p, 1, f->p, sign);
    f->twist = powers(f->m, f->s, n, sign);
    f->scratch = (double *)room_for(2 * f->m, sizeof(double));
    f->packed = (double *)room_for(2 * f->m, sizeof(double));
    f->arrived = (double *)room_for(2 * f->m, sizeof(double));
    f->column = (double *)room_for(2 * f->p, sizeof(double));
    f->radix = (double *)room_for(2 * f->m, sizeof(double));
    bsp_push_reg(f->arrived, (extent)(2 * f->m * (long)sizeof(double)));
    bsp_sync();
}

static void drop_plan(plan *f)
{
    bsp_pop_reg(f->arrived);
    bsp_sync();
    free(f->roots);
    free(f->small);
    free(f->twist);
    free(f->scratch);
    free(f->packed);
    free(f->arrived);
    free(f->column);
    free(f->radix);
}

static long smallest_factor(long n)
{
    long factor;

    for (factor = 2; factor * factor <= n; factor++)
        if (n % factor == 0)
            return factor;
    return n;
}

/* The transform of the `n` elements of `from` that lie `stride` apart. `roots` has the roots of order n * scale. */
static void transform(double *to, const double *from, long n, long stride, const double *roots, long scale,
                      double *radix)
{
    long r, part, q, k, c, at;

    if (n == 1) {
        to[0] = from[0];
        to[1] = from[1];
        return;
    }
    r = smallest_factor(n);
    part = n / r;
    for (q = 0; q < r; q++)
        transform(to + 2 * q * part, from + 2 * q * stride, part, stride * r, roots, scale * r, radix);
    for (k = 0; k < part; k++) {
        for (q = 0; q < r; q++) {
            double re = to[2 * (q * part + k)], im = to[2 * (q * part + k) + 1];
            double w_re = roots[2 * (q * k * scale)], w_im = roots[2 * (q * k * scale) + 1];

            radix[2 * q] = re * w_re - im * w_im;
            radix[2 * q + 1] = re * w_im + im * w_re;
        }
        for (c = 0; c < r; c++) {
            double re = 0, im = 0;

            for (q = 0, at = 0; q < r; q++, at = at + c >= r ? at + c - r : at + c) {
                double w_re = roots[2 * (at * part * scale)], w_im = roots[2 * (at * part * scale) + 1];

                re += radix[2 * q] * w_re - radix[2 * q + 1] * w_im;
                im += radix[2 * q] * w_im + radix[2 * q + 1] * w_re;
            }
            to[2 * (c * part + k)] = re;
            to[2 * (c * part + k) + 1] = im;
        }
    }
}

/* Transforms `x`, the m elements of this process, in place. Collective. */
static void fft(plan *f, double *x)
{
    long a, b, t, i, share = f->m / f->p;
    extent bytes = (extent)(2 * share * (long)sizeof(double));

    transform(f->scratch, x, f->m, 1, f->roots, 1, f->radix);
    for (t = 0; t < f->p; t++) {
        for (i = 0; i < share; i++) {
            double *to = f->packed + 2 * (t * share + i);

            a = t + f->p * i;
            to[0] = f->scratch[2 * a] * f->twist[2 * a] - f->scratch[2 * a + 1] * f->twist[2 * a + 1];
            to[1] = f->scratch[2 * a] * f->twist[2 * a + 1] + f->scratch[2 * a + 1] * f->twist[2 * a];
        }
        /* Neither end is touched before the step's end, so nothing need be buffered. */
        bsp_hpput((proc)t, f->packed + 2 * t * share, f->arrived, (extent)f->s * bytes, bytes);
    }
    bsp_sync();

    for (i = 0; i < share; i++) {
        transform(f->column, f->arrived + 2 * i, f->p, share, f->small, 1, f->radix);
        for (b = 0; b < f->p; b++) {
            x[2 * (i + share * b)] = f->column[2 * b];
            x[2 * (i + share * b) + 1] = f->column[2 * b + 1];
        }
    }
}

/* The vector that is transformed: two waves, and numbers without order. */
static void element(long j, long n, double *to)
{
    double angle = 2 * pi * 3 * (double)j / (double)n;

    to[0] = cos(angle) + (double)(j * 7919 % 1009) / 1009;
    to[1] = sin(2 * angle) - (double)(j * 104729 % 733) / 733;
}

/* Compares one coefficient of this process with its sum. */
static void check_coefficient(const double *x, long local, long p, long s, long n)
{
    long j, k = s + p * local;
    double at[2], re = 0, im = 0, size = 0, error;

    for (j = 0; j < n; j++) {
        double angle = -2 * pi * (double)(j % n * (k % n) % n) / (double)n;

        element(j, n, at);
        re += at[0] * cos(angle) - at[1] * sin(angle);
        im += at[0] * sin(angle) + at[1] * cos(angle);
        size += fabs(at[0]) + fabs(at[1]);
    }
    error = fabs(x[2 * local] - re) + fabs(x[2 * local + 1] - im);
    if (!(error <= 1e-12 * size))
        bsp_abort("fft: coefficient %ld is off by %g", k, error);
}

static void larger(void *result, const void *left, const void *right, extent nbytes)
{
    const double *a = (const double *)left, *b = (const double *)right;

    (void)nbytes;
    *(double *)result = *a > *b ? *a : *b;
}

static void run(void)
{
    plan forward, backward;
    long i, n, p, s, m;
    double *x, time, error = 0, worst;

    bsp_begin((proc)wanted_procs);
    n = shared_size();
    p = (long)bsp_nprocs();
    s = (long)bsp_pid();
    n = (n + p * p - 1) / (p * p) * (p * p);
    m = n / p;
    x = (double *)room_for(2 * m, sizeof(double));
    for (i = 0; i < m; i++)
        element(s + p * i, n, x + 2 * i);
    make_plan(&forward, n, -1);
    make_plan(&backward, n, 1);

    time = bsp_time();
    fft(&forward, x);
    bsp_sync();
    time = bsp_time() - time;

    check_coefficient(x, 0, p, s, n);
    check_coefficient(x, m / 3, p, s, n);
    check_coefficient(x, m - 1, p, s, n);

    fft(&backward, x);
    for (i = 0; i < m; i++) {
        double at[2];

        element(s + p * i, n, at);
        at[0] -= x[2 * i] / (double)n;
        at[1] -= x[2 * i + 1] / (double)n;
        error = fabs(at[0]) > error ? fabs(at[0]) : error;
        error = fabs(at[1]) > error ? fabs(at[1]) : error;
    }
    bsp_fold(larger, &error, &worst, sizeof(double));
    if (!(worst <= 1e-12))
        bsp_abort("fft: the inverse is off by %g", worst);

    if (s == 0)
        printf("fft: ok, %ld elements on %ld processes, the inverse is off by at most %.2g, in %.6f s\n", n, p, worst,
               time);
    drop_plan(&forward);
    drop_plan(&backward);
    free(x);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    read_arguments(argc, argv, 65536);
    run();
    return 0;
}
