/* What libbsp reaches beside the bare machine, in one run of two processes: a superstep with nothing in it beside a
 * spin barrier, long transfers beside memcpy, and how many short ones go through in a second. Every answer is checked.
 *
 *     rates [--json] [ROUNDS]
 *
 * The best of ROUNDS counts (7 unless given); the bare machine and the library take turns in each of them. */

#define _GNU_SOURCE
#include <bsp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 8 << 20, SHORT_COUNT = 100000, TABLE = 1 << 17, SYNCS = 20000, REPEATS = 20, STEPS = 20 };

static int pid, other;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* What two processes share: a counter each, on lines of their own, and room for 8 MiB each. */
struct raw {
    struct {
        volatile uint64_t count;
        char rest[120];
    } place[2];
    char memory[2][LONG];
};

static struct raw *raw;
static uint64_t raw_count;

static void raw_barrier(void)
{
    raw_count++;
    __atomic_store_n(&raw->place[pid].count, raw_count, __ATOMIC_RELEASE);
    while (__atomic_load_n(&raw->place[other].count, __ATOMIC_ACQUIRE) < raw_count)
        __builtin_ia32_pause();
}

static char *mine, *theirs, *common;
static uint64_t *table, *indices, *values;

static double raw_step(void)
{
    double start = now();
    for (int i = 0; i < SYNCS; i++)
        raw_barrier();
    return (now() - start) / SYNCS;
}

static double raw_copy(void)
{
    double start = now();
    for (int i = 0; i < REPEATS; i++) {
        memcpy(raw->memory[other], mine, LONG);
        raw_barrier();
    }
    return (now() - start) / REPEATS;
}

static double empty_step(void)
{
    double start = now();
    for (int i = 0; i < SYNCS; i++)
        bsp_sync();
    return (now() - start) / SYNCS;
}

static void check_long(const char *what, const char *where, int seed)
{
    for (int i = 0; i < LONG; i += 4093)
        if (where[i] != (char)(i * 7 + other + seed))
            bsp_abort("rates: %s brought a wrong byte at %d", what, i);
}

static void fill(char *where, int seed)
{
    for (int i = 0; i < LONG; i++)
        where[i] = (char)(i * 7 + pid + seed);
}

typedef void (*move)(char *into, char *from);

static void move_put(char *into, char *from) { bsp_put(other, from, into, 0, LONG); }
static void move_hpput(char *into, char *from) { bsp_hpput(other, from, into, 0, LONG); }
static void move_get(char *into, char *from) { bsp_get(other, from, 0, into, LONG); }
static void move_hpget(char *into, char *from) { bsp_hpget(other, from, 0, into, LONG); }

static double long_moves(const char *what, move how, char *into, char *from)
{
    static int seed;
    double time;
    fill(from, ++seed);
    memset(into, 0, LONG);
    bsp_sync();
    time = now();
    for (int i = 0; i < REPEATS; i++) {
        how(into, from);
        bsp_sync();
    }
    time = (now() - time) / REPEATS;
    check_long(what, into, seed);
    return time;
}

static double short_puts(void)
{
    double time = now();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SHORT_COUNT; i++)
            bsp_put(other, &values[i], table, (int)(8 * indices[i]), 8);
        bsp_sync();
    }
    time = (now() - time) / STEPS;
    for (int i = 0; i < SHORT_COUNT; i++)
        if (table[indices[i]] != values[i] + (uint64_t)other - (uint64_t)pid)
            bsp_abort("rates: bsp_put brought a wrong value to %d", i);
    return time;
}

static double short_gets(void)
{
    static uint64_t found[SHORT_COUNT];
    double time;
    memset(found, 0, sizeof found);
    bsp_sync();
    time = now();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SHORT_COUNT; i++)
            bsp_get(other, table, (int)(8 * indices[i]), &found[i], 8);
        bsp_sync();
    }
    time = (now() - time) / STEPS;
    for (int i = 0; i < SHORT_COUNT; i++)
        if (found[i] != values[i])
            bsp_abort("rates: bsp_get brought a wrong value to %d", i);
    return time;
}

static double messages(void)
{
    double time;
    uint64_t sum = 0, expected = 0;
    void *tag, *payload;
    bsp_sync();
    time = now();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SHORT_COUNT; i++)
            bsp_send(other, NULL, &values[i], 8);
        bsp_sync();
        while (bsp_hpmove(&tag, &payload) != -1)
            sum += *(uint64_t *)payload;
    }
    time = (now() - time) / STEPS;
    for (int i = 0; i < SHORT_COUNT; i++)
        expected += values[i] + (uint64_t)other - (uint64_t)pid;
    if (sum != expected * STEPS)
        bsp_abort("rates: bsp_send brought wrong values");
    bsp_sync();
    return time;
}

/* A million registrations, a thousand in each superstep: seconds for each of the first and of the last thousand. */
static void registrations(double *first, double *last)
{
    static char places[1000000];
    for (int round = 0; round < 1000; round++) {
        double time = now();
        for (int i = 0; i < 1000; i++)
            bsp_push_reg(&places[1000 * round + i], 1);
        bsp_sync();
        time = (now() - time) / 1000;
        if (round < 10)
            *first = round == 0 || time < *first ? time : *first;
        if (round >= 990)
            *last = round == 990 || time < *last ? time : *last;
    }
    for (int i = 0; i < 1000000; i++)
        bsp_pop_reg(&places[i]);
    bsp_sync();
}

enum { RAW_STEP, STEP, RAW_COPY, HPPUT, HPGET, HPPUT_COMMON, HPGET_COMMON, PUT, GET, PUTS, GETS, SENDS, COUNT };

static double best[COUNT];

static void note(int which, double time)
{
    /* What took longest counts. */
    double times[2];
    bsp_exchange((double[]){ time, time }, times, sizeof time);
    time = times[0] > times[1] ? times[0] : times[1];
    if (best[which] == 0 || time < best[which])
        best[which] = time;
}

static int is_json, missed;

static void line(const char *what, double value, const char *unit, double ratio, double target, int at_most)
{
    int is_met = at_most ? ratio <= target : ratio >= target;
    missed += !is_met;
    if (is_json)
        printf("{\"what\": \"%s\", \"value\": %g, \"unit\": \"%s\", \"ratio\": %.3f, \"target\": %g, \"met\": %s}\n", what,
               value, unit, ratio, target, is_met ? "true" : "false");
    else
        printf("%-34s %10.4g %-12s %8.2f  (%s %g)%s\n", what, value, unit, ratio, at_most ? "at most" : "at least",
               target, is_met ? "" : "  missed");
}

static double rate(int which) { return 2.0 * LONG / best[which] / 1e9; }
static double millions(int which) { return 2.0 * SHORT_COUNT / best[which] / 1e6; }

int main(int argc, char **argv)
{
    int rounds = 7;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            is_json = 1;
        else
            rounds = atoi(argv[i]);
    raw = mmap(NULL, sizeof *raw, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bsp_begin(2);
    if (bsp_nprocs() != 2)
        bsp_abort("rates: this takes 2 processes");
    pid = bsp_pid();
    other = 1 - pid;
    mine = malloc(LONG);
    theirs = malloc(LONG);
    common = bsp_alloc(LONG);
    table = calloc(TABLE, 8);
    indices = malloc(SHORT_COUNT * sizeof *indices);
    values = malloc(SHORT_COUNT * sizeof *values);
    /* Places that do not repeat, so that everything can be checked; the same in both processes. */
    {
        uint64_t *all = malloc(TABLE * sizeof *all);
        for (int i = 0; i < TABLE; i++)
            all[i] = (uint64_t)i;
        for (int i = TABLE - 1; i > 0; i--) {
            uint64_t at = random_number() % (uint64_t)(i + 1), kept = all[i];
            all[i] = all[at];
            all[at] = kept;
        }
        for (int i = 0; i < SHORT_COUNT; i++) {
            indices[i] = all[i];
            values[i] = 1000 * (uint64_t)i + (uint64_t)pid;
        }
        free(all);
    }
    bsp_push_reg(mine, LONG);
    bsp_push_reg(theirs, LONG);
    bsp_push_reg(common, LONG);
    bsp_push_reg(table, TABLE * 8);
    bsp_sync();
    for (int round = 0; round < rounds; round++) {
        note(RAW_STEP, raw_step());
        note(STEP, empty_step());
        fill(mine, 0);
        note(RAW_COPY, raw_copy());
        note(HPPUT, long_moves("bsp_hpput", move_hpput, theirs, mine));
        note(HPGET, long_moves("bsp_hpget", move_hpget, theirs, mine));
        note(HPPUT_COMMON, long_moves("bsp_hpput", move_hpput, common, mine));
        note(HPGET_COMMON, long_moves("bsp_hpget", move_hpget, theirs, common));
        note(PUT, long_moves("bsp_put", move_put, theirs, mine));
        note(GET, long_moves("bsp_get", move_get, theirs, mine));
        note(PUTS, short_puts());
        for (int i = 0; i < SHORT_COUNT; i++)
            table[indices[i]] = 1000 * (uint64_t)i + (uint64_t)other;
        note(GETS, short_gets());
        note(SENDS, messages());
    }
    double first = 0, last = 0;
    registrations(&first, &last);
    if (pid == 0) {
        line("empty bsp_sync", best[STEP] * 1e9, "ns", best[STEP] / best[RAW_STEP], 2, 1);
        line("bsp_hpput 8 MiB", rate(HPPUT), "GB/s", best[RAW_COPY] / best[HPPUT], 0.6, 0);
        line("bsp_hpget 8 MiB", rate(HPGET), "GB/s", best[RAW_COPY] / best[HPGET], 0.6, 0);
        line("bsp_hpput 8 MiB to bsp_alloc", rate(HPPUT_COMMON), "GB/s", best[RAW_COPY] / best[HPPUT_COMMON], 0.9, 0);
        line("bsp_hpget 8 MiB from bsp_alloc", rate(HPGET_COMMON), "GB/s", best[RAW_COPY] / best[HPGET_COMMON], 0.9, 0);
        line("bsp_put 8 MiB", rate(PUT), "GB/s", best[RAW_COPY] / best[PUT], 0.45, 0);
        line("bsp_get 8 MiB", rate(GET), "GB/s", best[RAW_COPY] / best[GET], 0.45, 0);
        line("bsp_put of 8 bytes", millions(PUTS), "million/s", millions(PUTS), 60, 0);
        line("bsp_get of 8 bytes", millions(GETS), "million/s", millions(GETS), 40, 0);
        line("bsp_send and bsp_hpmove of 8 bytes", millions(SENDS), "million/s", millions(SENDS), 60, 0);
        line("registration, last of a million", last * 1e9, "ns", last / first, 2, 1);
        if (!is_json)
            printf("raw: barrier %.0f ns, memcpy of 8 MiB both ways %.1f GB/s; best of %d\n", best[RAW_STEP] * 1e9,
                   rate(RAW_COPY), rounds);
    }
    bsp_end();
    return missed > 0;
}
