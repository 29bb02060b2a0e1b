/* Measures the three numbers that say what a BSP program costs on a machine.
 *
 *     bspbench [--json] [PROCESSES [H]]
 *
 * r, the flops of one process in a second: y = y + a x on vectors that stay in the cache, two flops for each element.
 *
 * g and l, the flops that a word and a step cost: in an h-relation each process puts h words (doubles) to the others in
 * turn, and as many come to it. Its time is fitted by g h + l, by least squares, for h from p to H. This is done twice,
 * with a put for each word, and with one put for all words to one process. H is at least 16 p.
 *
 * Each time is that of the slowest process, and the best of several tries. What arrives is checked.
 */
#include <math.h>

#include "program.h"

#define TRIES 25
#define AXPY_SIZE 1024

/* The sizes of the h-relations: h_count of them, evenly spread, and the time of each in seconds. */
typedef struct {
    int h_count;
    long *h;
    double *times;
    double g, l; /* in seconds */
} fit;

static int is_json;

static void larger(void *result, const void *left, const void *right, extent nbytes)
{
    double a, b;

    (void)nbytes;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a = a > b ? a : b;
    memcpy(result, &a, sizeof a);
}

/* The largest of one value from each process. Collective. */
static double largest(double mine)
{
    double all;

    bsp_fold(larger, &mine, &all, sizeof all);
    return all;
}

/* Flops in a second by the slowest process, all at work. Collective. */
static double measure_r(void)
{
    double x[AXPY_SIZE], y[AXPY_SIZE], a = 1.0 / 3, time, best = 0;
    long i, round, rounds = 16;
    int try_at;

    for (i = 0; i < AXPY_SIZE; i++) {
        x[i] = (double)i;
        y[i] = (double)(AXPY_SIZE - i);
    }
    for (try_at = 0; try_at < TRIES;) {
        bsp_sync();
        time = bsp_time();
        for (round = 0; round < rounds; round++) {
            for (i = 0; i < AXPY_SIZE; i++)
                y[i] += a * x[i];
            a = -a;
        }
        time = largest(bsp_time() - time);
        if (y[1] != y[1])
            bsp_abort("bspbench: y[1] is not a number");
        if (time < 0.005) {
            rounds *= 2; /* too short to be measured */
            continue;
        }
        time = 2.0 * AXPY_SIZE * (double)rounds / time;
        best = time > best ? time : best;
        try_at++;
    }
    return best;
}

/* Word i goes to this process; with one process to itself. */
static proc target_of(long i)
{
    long p = (long)bsp_nprocs(), s = (long)bsp_pid();

    return (proc)(p == 1 ? 0 : (s + 1 + i % (p - 1)) % p);
}

/* How many of the h words go to the process that is `distance` + 1 further on. */
static long words_for(long distance, long h, long others)
{
    return (h - distance + others - 1) / others;
}

/* One h-relation: at each target, words from process s begin at s * h. */
static void put_words(const double *from, double *to, long h, int is_single)
{
    long i, p = (long)bsp_nprocs(), s = (long)bsp_pid(), others = p == 1 ? 1 : p - 1;

    if (is_single)
        for (i = 0; i < h; i++)
            bsp_put(target_of(i), &from[i], to, (extent)((s * h + i / others) * (long)sizeof(double)), sizeof(double));
    else
        for (i = 0; i < others && i < h; i++)
            bsp_put(target_of(i), from, to, (extent)(s * h * (long)sizeof(double)),
                    (extent)(words_for(i, h, others) * (long)sizeof(double)));
    bsp_sync();
}

/* Every word must be the number of the process that it came from. */
static void check(const double *to, long h)
{
    long i, q, p = (long)bsp_nprocs(), s = (long)bsp_pid(), others = p == 1 ? 1 : p - 1;

    for (q = 0; q < p; q++) {
        long distance = p == 1 ? 0 : (s + p - q - 1) % p;

        if (q == s && p > 1)
            continue;
        for (i = 0; distance < h && i < words_for(distance, h, others); i++)
            if (to[q * h + i] != (double)q)
                bsp_abort("bspbench: word %ld from process %ld is %g", i, q, to[q * h + i]);
    }
}

/* The time of one h-relation in seconds. Collective. */
static double measure_h(const double *from, double *to, long h, int is_single)
{
    double time, best = -1;
    long i, round, rounds = 4;
    int try_at;

    for (i = 0; i < h * (long)bsp_nprocs(); i++)
        to[i] = -1;
    for (try_at = 0; try_at < TRIES;) {
        bsp_sync();
        time = bsp_time();
        for (round = 0; round < rounds; round++)
            put_words(from, to, h, is_single);
        time = largest(bsp_time() - time);
        check(to, h);
        if (time < 0.0005) {
            rounds *= 4;
            continue;
        }
        time /= (double)rounds;
        best = best < 0 || time < best ? time : best;
        try_at++;
    }
    return best;
}

/* Least squares over all sizes of at least p. */
static void fit_line(fit *f, long p)
{
    double n = 0, sum_h = 0, sum_t = 0, sum_hh = 0, sum_ht = 0, spread;
    int i;

    for (i = 0; i < f->h_count; i++)
        if (f->h[i] >= p) {
            n += 1;
            sum_h += (double)f->h[i];
            sum_t += f->times[i];
            sum_hh += (double)f->h[i] * (double)f->h[i];
            sum_ht += (double)f->h[i] * f->times[i];
        }
    spread = n * sum_hh - sum_h * sum_h;
    f->g = spread > 0 ? (n * sum_ht - sum_h * sum_t) / spread : 0;
    f->l = n > 0 ? (sum_t - f->g * sum_h) / n : 0;
}

/* Collective. */
static void measure(fit *f, long h_max, int is_single)
{
    long p = (long)bsp_nprocs();
    double *from = (double *)room_for(h_max, sizeof(double)), *to = (double *)room_for(h_max * p, sizeof(double));
    int i;

    for (i = 0; i < h_max; i++)
        from[i] = (double)bsp_pid();
    bsp_push_reg(to, (extent)(h_max * p * (long)sizeof(double)));
    bsp_sync();
    f->h_count = 17;
    f->h = (long *)room_for(f->h_count, sizeof(long));
    f->times = (double *)room_for(f->h_count, sizeof(double));
    for (i = 0; i < f->h_count; i++) {
        f->h[i] = h_max * i / (f->h_count - 1);
        f->times[i] = measure_h(from, to, f->h[i], is_single);
    }
    fit_line(f, p);
    bsp_pop_reg(to);
    bsp_sync();
    free(from);
    free(to);
}

static void drop(fit *f)
{
    free(f->h);
    free(f->times);
}

static void print_table(double r, const fit *single, const fit *whole)
{
    int i;

    printf("p = %d processes, a word has %d bytes\n\n", (int)bsp_nprocs(), (int)sizeof(double));
    printf("%8s %18s %18s\n", "h", "a put per word", "a put per target");
    for (i = 0; i < single->h_count; i++)
        printf("%8ld %15.3f us %15.3f us\n", single->h[i], single->times[i] * 1e6, whole->times[i] * 1e6);
    printf("\n%8s %15.3f Mflop/s\n", "r", r / 1e6);
    printf("%8s %15.1f flops, %.4f us per word\n", "g", single->g * r, single->g * 1e6);
    printf("%8s %15.1f flops, %.3f us\n", "l", single->l * r, single->l * 1e6);
    printf("%8s %15.1f flops, %.4f us per word, a put per target\n", "g", whole->g * r, whole->g * 1e6);
    printf("%8s %15.1f flops, %.3f us, a put per target\n", "l", whole->l * r, whole->l * 1e6);
    printf("bspbench: ok, %d processes, the words of %d relations arrived\n", (int)bsp_nprocs(),
           single->h_count + whole->h_count);
}

static void print_fit(const char *name, double r, const fit *f)
{
    int i;

    printf(",\"%s\":{\"g_flops\":%.6g,\"l_flops\":%.6g,\"g_seconds\":%.6g,\"l_seconds\":%.6g,\"relations\":[", name,
           f->g * r, f->l * r, f->g, f->l);
    for (i = 0; i < f->h_count; i++)
        printf("%s{\"h\":%ld,\"seconds\":%.6g}", i == 0 ? "" : ",", f->h[i], f->times[i]);
    printf("]}");
}

static void run(void)
{
    fit single, whole;
    long h_max;
    double r;

    bsp_begin((proc)wanted_procs);
    h_max = shared_size();
    if (h_max < 16 * (long)bsp_nprocs())
        h_max = 16 * (long)bsp_nprocs();
    r = measure_r();
    measure(&single, h_max, 1);
    measure(&whole, h_max, 0);
    if (bsp_pid() == 0) {
        if (is_json) {
            printf("{\"p\":%d,\"word_bytes\":%d,\"r_flops\":%.6g", (int)bsp_nprocs(), (int)sizeof(double), r);
            print_fit("put_per_word", r, &single);
            print_fit("put_per_target", r, &whole);
            printf("}\n");
        } else {
            print_table(r, &single, &whole);
        }
    }
    drop(&single);
    drop(&whole);
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(run, argc, argv);
    if (argc > 1 && strcmp(argv[1], "--json") == 0) {
        is_json = 1;
        argc--;
        argv++;
    }
    read_arguments(argc, argv, 1024);
    run();
    return 0;
}
