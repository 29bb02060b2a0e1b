/* What a program can do wrong with sizes of type size_t: names and lines, as misuse.c has them.
 *
 *     misuse_size --list
 *     misuse_size NAME */

#define BSP_SIZE_T
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "named.h"

static int area[4], value = 1;

static void set_up(void)
{
    bsp_begin(2);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
}

static void too_far(void)
{
    bsp_sync();
    bsp_end();
    printf("nothing was noticed\n");
}

static void put_to_no_process(void) { set_up(); bsp_put((bsp_pid_t)-1, &value, area, 0, 4); too_far(); }
static void put_minus_four(void) { set_up(); bsp_put(0, &value, area, (size_t)-4, 4); too_far(); }
static void put_minus_four_bytes(void) { set_up(); bsp_put(0, &value, area, 0, (size_t)-4); too_far(); }
static void hpput_minus_one(void) { set_up(); bsp_hpput(0, &value, area, (size_t)-1, 4); too_far(); }
static void get_minus_one(void) { set_up(); bsp_get(0, area, (size_t)-1, &value, 4); too_far(); }
static void hpget_minus_one(void) { set_up(); bsp_hpget(0, area, (size_t)-1, &value, 4); too_far(); }
static void put_far_beyond(void) { set_up(); bsp_put(0, &value, area, SIZE_MAX / 2, SIZE_MAX / 2); too_far(); }
static void put_before_begin(void) { bsp_put(0, &value, area, (size_t)-1, 4); }
static void push_minus_one(void) { bsp_begin(2); bsp_push_reg(area, (size_t)-1); too_far(); }
static void send_minus_one(void) { bsp_begin(2); bsp_send(0, NULL, &value, (size_t)-1); too_far(); }
static void send_too_much(void) { bsp_begin(2); bsp_send(0, NULL, &value, SIZE_MAX / 2); too_far(); }
static void move_minus_one(void) { bsp_begin(2); bsp_move(&value, (size_t)-1); too_far(); }
static void tagsize_minus_one(void) { size_t size = (size_t)-1; bsp_begin(2); bsp_set_tagsize(&size); too_far(); }
static void bcast_minus_one(void) { bsp_begin(2); bsp_bcast(0, area, (size_t)-1); too_far(); }
static void exchange_too_much(void) { bsp_begin(2); bsp_exchange(area, area, SIZE_MAX / 2); too_far(); }

static const struct named all[] = {
    { "put_to_no_process", put_to_no_process, "bsp_put: there is no process 4294967295; they are 0 to 1" },
    { "put_minus_four", put_minus_four, "bsp_put: the offset is 18446744073709551612; no memory is that large" },
    { "put_minus_four_bytes", put_minus_four_bytes, "bsp_put: the number of bytes is 18446744073709551612; no memory" },
    { "hpput_minus_one", hpput_minus_one, "bsp_hpput: the offset is 18446744073709551615; no memory is that large" },
    { "get_minus_one", get_minus_one, "bsp_get: the offset is 18446744073709551615; no memory is that large" },
    { "hpget_minus_one", hpget_minus_one, "bsp_hpget: the offset is 18446744073709551615; no memory is that large" },
    { "put_far_beyond", put_far_beyond, "bsp_put: 9223372036854775807 bytes at offset 9223372036854775807 are" },
    { "put_before_begin", put_before_begin, "bsp_put: called before bsp_begin" },
    { "push_minus_one", push_minus_one, "bsp_push_reg: the size is 18446744073709551615; no memory is that large" },
    { "send_minus_one", send_minus_one, "bsp_send: the payload's size is 18446744073709551615; no memory" },
    { "send_too_much", send_too_much, "bsp_send: there is no memory left for what is under way" },
    { "move_minus_one", move_minus_one, "bsp_move: the room for the payload is 18446744073709551615; no memory" },
    { "tagsize_minus_one", tagsize_minus_one, "bsp_set_tagsize: the tag size is 18446744073709551615; no memory" },
    { "bcast_minus_one", bcast_minus_one, "bsp_bcast: the number of bytes is 18446744073709551615; no memory" },
    { "exchange_too_much", exchange_too_much, "bsp_exchange: there is no memory left for what is under way" },
};

int main(int argc, char **argv)
{
    return do_named(all, sizeof all / sizeof *all, NULL, argc, argv);
}
