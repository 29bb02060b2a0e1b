/* A sequence of calls that a seed decides, held against a model of it.
 *
 *     sequences SEED PROCESSES
 *
 * Every process draws the same numbers, so each knows what all of them do and works out what its own memory and its own
 * messages must be. Of three seeds one has a call in it that is wrong: the process that is about to make it prints the
 * name of the function that must complain. All others end with "as expected". */

#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AREAS = 4, BYTES = 48, PROCESSES = 5, LEVELS = 3, LONGEST = 24, PER_STEP = 64, STEPS = 6, CALLS = 9 };

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what))                                                                                                   \
            bsp_abort("sequence %lu, superstep %d, process %d: not so: %s", seed, step, me, #what);                    \
    } while (0)

typedef unsigned char memory[AREAS][BYTES];

static unsigned long seed;
static int me, all, step;

/* What the library works on, and what it must be on all processes. */
static memory mine, model[PROCESSES];

/* How long each area is on each process, for every registration of it that is in force, and how many there are. */
static int length[AREAS][LEVELS][PROCESSES], levels[AREAS];

/* Registrations that come with the next boundary: an area, and its lengths, or -1 to end one. */
static struct { int area, length[PROCESSES]; } events[PER_STEP];
static int event_count;

static struct transfer { int to, area, offset, count; unsigned char bytes[LONGEST]; } put_list[PER_STEP];
static struct fetch { struct transfer into; int from, area, offset; } get_list[PER_STEP];
static int put_count, get_count;

/* The sizes of tags that are set, sent and received. */
static int tag_next, tag_sent, tag_come;

static struct message { int to, count; unsigned char tag[16], payload[LONGEST]; } sent[PER_STEP], come[PER_STEP];
static int sent_count, come_count;

/* What each passes on to the next process, at some time until the boundary. */
static unsigned char outgoing[8], incoming[8], expected[8];

static unsigned long state;

static int below(int bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state * 0x2545F4914F6CDD1DUL >> 33) % (unsigned long)bound);
}

static void draw(unsigned char *bytes, int count)
{
    int i;
    for (i = 0; i < count; i++)
        bytes[i] = (unsigned char)below(256);
}

/* A part of so many bytes: where it begins, and how long it is. */
static void part(int room, int *offset, int *count)
{
    *offset = below(room + 1);
    *count = below(room - *offset + 1);
    if (*count > LONGEST)
        *count = LONGEST;
}

/* An area that is registered, or -1. */
static int registered(void)
{
    int area = below(AREAS);
    return levels[area] > 0 ? area : -1;
}

static int room(int area, int process) { return length[area][levels[area] - 1][process]; }

static void write_own(int process)
{
    unsigned char bytes[LONGEST];
    int area = below(AREAS), offset, count;
    part(BYTES, &offset, &count);
    draw(bytes, count);
    memcpy(model[process][area] + offset, bytes, count);
    if (process == me)
        memcpy(mine[area] + offset, bytes, count);
}

static void put(int process)
{
    int area = registered(), from = below(AREAS), at = below(BYTES - LONGEST);
    struct transfer *put = &put_list[put_count];
    put->to = below(all);
    if (area < 0 || put_count == PER_STEP)
        return;
    part(room(area, put->to), &put->offset, &put->count);
    put->area = area;
    memcpy(put->bytes, model[process][from] + at, put->count);
    put_count++;
    if (process == me)
        bsp_put(put->to, mine[from] + at, mine[area], put->offset, put->count);
}

static void get(int process)
{
    int area = registered();
    struct fetch *get = &get_list[get_count];
    get->from = below(all);
    get->into.to = process;
    get->into.area = below(AREAS);
    get->into.offset = below(BYTES - LONGEST);
    if (area < 0 || get_count == PER_STEP)
        return;
    part(room(area, get->from), &get->offset, &get->into.count);
    get->area = area;
    get_count++;
    if (process == me)
        bsp_get(get->from, mine[area], get->offset, mine[get->into.area] + get->into.offset, get->into.count);
}

static void send(int process)
{
    struct message *message = &sent[sent_count];
    message->to = below(all);
    message->count = below(LONGEST + 1);
    draw(message->tag, sizeof message->tag);
    draw(message->payload, message->count);
    if (sent_count == PER_STEP)
        return;
    sent_count++;
    if (process == me)
        bsp_send(message->to, message->tag, message->payload, message->count);
}

/* No bytes go anywhere, whatever else is said of them. */
static void nothing(int process)
{
    int to = below(100) - 50;
    if (process == me) {
        bsp_put(to, NULL, &to, to, 0);
        bsp_get(to, &to, to, NULL, 0);
        bsp_hpput(to, NULL, &to, to, 0);
        bsp_hpget(to, &to, to, NULL, 0);
    }
}

static void call(int process)
{
    switch (below(6)) {
    case 0: write_own(process); break;
    case 1: put(process); break;
    case 2: get(process); break;
    case 3: send(process); break;
    case 4: put(process); break;
    default: nothing(process);
    }
}

static void pass_on(void)
{
    unsigned char drawn[PROCESSES][8];
    int process, is_done = below(2);
    for (process = 0; process < all; process++)
        draw(drawn[process], 8);
    if (is_done) {
        memcpy(outgoing, drawn[me], 8);
        memcpy(expected, drawn[(me + all - 1) % all], 8);
        bsp_hpput((me + 1) % all, outgoing, incoming, 0, 8);
    }
}

/* What all do together before a boundary. */
static void register_some(void)
{
    int area = below(AREAS), process, after = levels[area], i, tag;
    static const int tags[] = { 0, 1, 4, 8, 16 };
    for (i = 0; i < event_count; i++)
        if (events[i].area == area)
            after += events[i].length[0] < 0 ? -1 : 1;
    if (event_count < PER_STEP && below(2) && after < LEVELS) {
        for (process = 0; process < all; process++)
            events[event_count].length[process] = below(BYTES + 1);
        events[event_count].area = area;
        bsp_push_reg(mine[area], events[event_count++].length[me]);
    } else if (event_count < PER_STEP && below(3) == 0 && after > 0) {
        events[event_count].area = area;
        events[event_count++].length[0] = -1;
        bsp_pop_reg(mine[area]);
    }
    if (below(4) == 0) {
        tag = tags[below(5)];
        i = tag;
        bsp_set_tagsize(&i);
        CHECK(i == tag_next);
        tag_next = tag;
    }
}

/* What a boundary does to all: gets are read, what was got is written, and then what was put; in the order of their
 * calls, which is by process. */
static void turn(void)
{
    int i, process;
    for (i = 0; i < get_count; i++)
        memcpy(get_list[i].into.bytes, model[get_list[i].from][get_list[i].area] + get_list[i].offset,
               get_list[i].into.count);
    for (i = 0; i < get_count; i++)
        memcpy(model[get_list[i].into.to][get_list[i].into.area] + get_list[i].into.offset, get_list[i].into.bytes,
               get_list[i].into.count);
    for (i = 0; i < put_count; i++)
        memcpy(model[put_list[i].to][put_list[i].area] + put_list[i].offset, put_list[i].bytes, put_list[i].count);
    for (i = 0; i < event_count; i++) {
        int area = events[i].area;
        if (events[i].length[0] < 0)
            levels[area]--;
        else
            for (process = 0, levels[area]++; process < all; process++)
                length[area][levels[area] - 1][process] = events[i].length[process];
    }
    for (i = come_count = 0; i < sent_count; i++)
        if (sent[i].to == me)
            come[come_count++] = sent[i];
    tag_come = tag_sent;
    tag_sent = tag_next;
    put_count = get_count = sent_count = event_count = 0;
}

static void add(void *result, const void *left, const void *right, int bytes)
{
    int i;
    for (i = 0; i < bytes; i++)
        ((unsigned char *)result)[i] = (unsigned char)(((unsigned char *)left)[i] + ((unsigned char *)right)[i]);
}

enum ending { SYNC, BCAST, FOLD, ENDINGS };
static const char *const names[] = { "bsp_sync", "bsp_bcast", "bsp_fold" };

/* Ends the superstep in one of these ways. */
static void end_step(enum ending ending)
{
    int i, process, root = below(all);
    unsigned char data[PROCESSES][8], sum[8];
    for (process = 0; process < all; process++)
        draw(data[process], 8);
    memset(sum, 0, 8);
    for (process = 0; process < all; process++)
        add(sum, sum, data[process], 8);
    if (ending == SYNC)
        bsp_sync();
    else if (ending == BCAST)
        bsp_bcast(root, data[me], 8);
    else
        bsp_fold(add, data[me], data[me], 8);
    for (i = 0; i < 8; i++)
        CHECK(ending != BCAST || data[me][i] == data[root][i]);
    for (i = 0; i < 8; i++)
        CHECK(ending != FOLD || data[me][i] == sum[i]);
}

/* Takes some of the messages, each in one of two ways. */
static void receive(int wanted)
{
    int i, count, bytes = 0, left = 0, ways;
    for (i = 0; i < come_count; i++)
        bytes += come[i].count;
    bsp_qsize(&count, &left);
    CHECK(count == come_count && left == bytes);
    for (i = 0; i < come_count && i < wanted; i++) {
        unsigned char tag[16], payload[LONGEST];
        void *tag_there, *payload_there;
        int status, taken = come[i].count < 9 ? come[i].count : 9;
        bsp_get_tag(&status, tag);
        CHECK(status == come[i].count && memcmp(tag, come[i].tag, tag_come) == 0);
        ways = (i + wanted) % 3;
        if (ways == 0) {
            bsp_move(payload, sizeof payload);
            CHECK(memcmp(payload, come[i].payload, come[i].count) == 0);
        } else if (ways == 1) {
            bsp_move(payload, 9);
            CHECK(memcmp(payload, come[i].payload, taken) == 0);
        } else {
            CHECK(bsp_hpmove(&tag_there, &payload_there) == come[i].count);
            CHECK(memcmp(tag_there, come[i].tag, tag_come) == 0);
            CHECK(memcmp(payload_there, come[i].payload, come[i].count) == 0);
        }
    }
    if (wanted >= come_count) {
        bsp_get_tag(&count, NULL);
        CHECK(count == -1);
    }
}

static void announce(const char *who)
{
    printf("%s\n", who);
    fflush(stdout);
}

/* Does something wrong: who complains is said first. */
static void go_wrong(enum ending ending)
{
    static int stranger;
    int area = below(AREAS), to = below(all), bad = below(2) ? all + below(3) : -1 - below(3), zero = 0, minus = -1;
    int way = below(all > 1 ? 24 : 19);
    switch (way) {
    case 0: announce("bsp_put"); bsp_put(bad, &way, mine[area], 0, 4); break;
    case 1: announce("bsp_put"); bsp_put(to, &way, &stranger, 0, 4); break;
    case 2: announce("bsp_put"); bsp_put(to, mine, mine[area], BYTES - 3, 4); break;
    case 3: announce("bsp_put"); bsp_put(to, mine, mine[area], -4, 4); break;
    case 4: announce("bsp_put"); bsp_put(to, mine, mine[area], 0, -4); break;
    case 5: announce("bsp_put"); bsp_put(to, mine, mine[area], 2147483647, 2147483647); break;
    case 6: announce("bsp_get"); bsp_get(bad, mine[area], 0, mine, 4); break;
    case 7: announce("bsp_get"); bsp_get(to, mine[area] + 1, 0, mine, 4); break;
    case 8: announce("bsp_get"); bsp_get(to, mine[area], 2147483647, mine, 1); break;
    case 9: announce("bsp_hpput"); bsp_hpput(to, mine, mine[area], 0, BYTES + 1); break;
    case 10: announce("bsp_hpget"); bsp_hpget(bad, mine[area], 0, mine, 1); break;
    case 11: announce("bsp_send"); bsp_send(bad, mine, mine, 4); break;
    case 12: announce("bsp_send"); bsp_send(to, mine, mine, minus); break;
    case 13: announce("bsp_set_tagsize"); bsp_set_tagsize(&minus); break;
    case 14: announce("bsp_push_reg"); bsp_push_reg(mine[area], minus); break;
    case 15: announce("bsp_push_reg"); bsp_push_reg(NULL, 4); break;
    case 16: announce("bsp_pop_reg"); bsp_pop_reg(&stranger); break;
    case 17: announce("bsp_move"); bsp_move(mine, minus); break;
    case 18: announce("bsp_begin"); bsp_begin(all); break;
    case 19: announce(names[ending]); bsp_push_reg(&stranger, 4); break;
    case 20: announce(names[ending]); bsp_set_tagsize(&zero); break;
    case 21: announce("bsp_"); bsp_end(); break;
    case 22: announce("bsp_end"); exit(0); break;
    default: announce("enough"); bsp_abort("enough");
    }
}

int main(int argc, char **argv)
{
    int steps, wrong_step, wrong_process, i, process;
    seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    bsp_begin(argc > 2 ? atoi(argv[2]) : 1);
    me = bsp_pid();
    all = bsp_nprocs();
    state = seed * 0x9E3779B97F4A7C15UL + 1;
    for (i = 0; i < 8; i++)
        below(2);
    bsp_push_reg(incoming, sizeof incoming);
    for (i = 0; i < AREAS; i++) {
        for (process = 0; process < all; process++)
            length[i][0][process] = below(BYTES + 1);
        levels[i] = 1;
        bsp_push_reg(mine[i], length[i][0][me]);
    }
    bsp_sync();
    steps = 1 + below(STEPS);
    wrong_step = seed % 3 == 0 ? below(steps) : -1;
    wrong_process = below(all);
    for (step = 0; step < steps; step++) {
        enum ending ending = (enum ending)below(ENDINGS);
        int wanted = below(5);
        pass_on();
        for (i = below(3); i > 0; i--)
            register_some();
        for (process = 0; process < all; process++) {
            for (i = below(CALLS); i > 0; i--)
                call(process);
            if (step == wrong_step && process == wrong_process) {
                unsigned long before = state;
                if (process == me)
                    go_wrong(ending);
                /* Whatever it has drawn, the others go on as it does. */
                state = before;
            }
        }
        end_step(ending);
        turn();
        CHECK(step != wrong_step || !"nothing was noticed");
        CHECK(memcmp(mine, model[me], sizeof mine) == 0);
        CHECK(memcmp(incoming, expected, sizeof incoming) == 0);
        receive(wanted);
    }
    bsp_end();
    if (me == 0)
        printf("as expected\n");
    return 0;
}
