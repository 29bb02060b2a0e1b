/* Claims about messages. */

#include "claim.h"

static int next(void) { return (me + 1) % all; }
static int before(void) { return (me + all - 1) % all; }

static bsp_size_t set_tag(bsp_size_t size)
{
    bsp_set_tagsize(&size);
    return size;
}

static void a_message_can_be_read_in_the_next_step_only(void)
{
    int value = me, found = -1;
    bsp_size_t count = 9, bytes = 9, status = 9;
    bsp_send(next(), NULL, &value, sizeof value);
    value = 1000;
    bsp_qsize(&count, &bytes);
    CHECK(count == 0 && bytes == 0);
    bsp_sync();
    bsp_qsize(&count, &bytes);
    CHECK(count == 1 && bytes == sizeof value);
    bsp_get_tag(&status, NULL);
    CHECK(status == sizeof value);
    bsp_move(&found, sizeof found);
    CHECK(found == before());
    bsp_qsize(&count, &bytes);
    CHECK(count == 0 && bytes == 0);
    bsp_send(next(), NULL, &value, sizeof value);
    bsp_sync();
    bsp_sync();
    bsp_qsize(&count, &bytes);
    CHECK(count == 0 && bytes == 0);
    bsp_get_tag(&status, NULL);
    CHECK(status == (bsp_size_t)-1);
}

static void a_tag_size_holds_from_the_next_step_on(void)
{
    int tag = 100 + me, seen = 7;
    char payload = 'p';
    bsp_size_t status;
    CHECK(set_tag(sizeof tag) == 0);
    CHECK(set_tag(2) == sizeof tag);
    CHECK(set_tag(sizeof tag) == 2);
    /* Still without a tag. */
    bsp_send(next(), NULL, &payload, 1);
    bsp_sync();
    bsp_get_tag(&status, &seen);
    CHECK(status == 1 && seen == 7);
    bsp_send(next(), &tag, &payload, 1);
    CHECK(set_tag(0) == sizeof tag);
    bsp_sync();
    /* What has come still has one. */
    bsp_get_tag(&status, &seen);
    CHECK(status == 1 && seen == 100 + before());
    seen = 7;
    bsp_get_tag(&status, &seen);
    CHECK(seen == 100 + before());
    bsp_send(next(), NULL, NULL, 0);
    bsp_sync();
    seen = 7;
    bsp_get_tag(&status, &seen);
    CHECK(status == 0 && seen == 7);
}

static void messages_without_tag_and_payload_count(void)
{
    /* What other libraries count messages with. */
    bsp_nprocs_t count;
    bsp_size_t bytes, status;
    int i;
    for (i = 0; i < 5; i++)
        bsp_send(next(), NULL, NULL, 0);
    bsp_sync();
    bsp_qsize(&count, &bytes);
    CHECK(count == 5 && bytes == 0);
    for (i = 5; i > 0; i--) {
        bsp_qsize(&count, NULL);
        CHECK(count == (bsp_nprocs_t)i);
        bsp_get_tag(&status, NULL);
        CHECK(status == 0);
        bsp_move(NULL, 0);
    }
    bsp_get_tag(&status, NULL);
    CHECK(status == (bsp_size_t)-1);
}

static void a_move_cuts_off_what_has_no_room(void)
{
    char text[8] = "abcdefg", found[8] = "-------";
    bsp_size_t bytes, count;
    bsp_send(next(), NULL, text, 8);
    bsp_send(next(), NULL, text, 8);
    bsp_send(next(), NULL, text, 3);
    bsp_sync();
    bsp_move(found, 3);
    CHECK(memcmp(found, "abc----", 8) == 0);
    bsp_qsize(&count, &bytes);
    CHECK(count == 2 && bytes == 11);
    bsp_move(NULL, 0);
    bsp_move(found, 8);
    CHECK(memcmp(found, "abc----", 8) == 0);
    bsp_qsize(&count, &bytes);
    CHECK(count == 0 && bytes == 0);
}

static void hpmove_points_to_what_lies_as_its_type_asks_for(void)
{
    static const int tag_sizes[] = { 0, 1, 8, 16, 24 };
    size_t which;
    for (which = 0; which < sizeof tag_sizes / sizeof *tag_sizes; which++) {
        char tag[24], payload[100];
        int len, count = 0;
        void *tag_ptr, *payload_ptr;
        bsp_size_t came;
        memset(tag, 'a' + (int)which, sizeof tag);
        set_tag((bsp_size_t)tag_sizes[which]);
        bsp_sync();
        for (len = 0; len < 100; len++) {
            memset(payload, len, sizeof payload);
            bsp_send(next(), tag, payload, (bsp_size_t)len);
        }
        bsp_sync();
        while ((came = bsp_hpmove(&tag_ptr, &payload_ptr)) != (bsp_size_t)-1) {
            int i;
            CHECK((size_t)payload_ptr % (came >= 16 ? 16 : 8) == 0);
            CHECK(tag_sizes[which] == 0 || (size_t)tag_ptr % (tag_sizes[which] >= 16 ? 16 : 8) == 0);
            for (i = 0; i < tag_sizes[which]; i++)
                CHECK(((char *)tag_ptr)[i] == 'a' + (int)which);
            for (i = 0; i < (int)came; i++)
                CHECK(((char *)payload_ptr)[i] == (char)came);
            count++;
        }
        CHECK(count == 100);
    }
    set_tag(0);
}

static void what_hpmove_points_to_stays_until_the_step_ends(void)
{
    int values[50], i;
    void *tag, *payload[50];
    for (i = 0; i < 50; i++) {
        values[i] = 1000 * me + i;
        bsp_send(next(), NULL, &values[i], sizeof values[i]);
    }
    bsp_sync();
    for (i = 0; i < 50; i++)
        CHECK(bsp_hpmove(&tag, &payload[i]) == sizeof(int));
    /* What is sent now does not go there. */
    for (i = 0; i < 50; i++) {
        int other = -1;
        bsp_send(before(), NULL, &other, sizeof other);
        bsp_send(next(), NULL, &other, sizeof other);
    }
    for (i = 0; i < 50; i++)
        CHECK(*(int *)payload[i] / 1000 == before());
}

static void everybody_sends_to_everybody(void)
{
    int round, to, i;
    for (round = 0; round < 5; round++) {
        bsp_size_t count, bytes;
        long sum = 0;
        for (to = 0; to < all; to++)
            for (i = 0; i < 200; i++) {
                int value = round + i + me;
                bsp_send(to, NULL, &value, sizeof value);
            }
        bsp_sync();
        bsp_qsize(&count, &bytes);
        CHECK(count == (bsp_size_t)(200 * all) && bytes == (bsp_size_t)(200 * all * 4));
        for (i = 0; i < 200 * all; i++) {
            int value;
            bsp_move(&value, sizeof value);
            sum += value;
        }
        CHECK(sum == 200L * all * round + 19900L * all + 200L * all * (all - 1) / 2);
    }
}

const struct claim message_claims[] = {
    { "a_message_can_be_read_in_the_next_step_only", a_message_can_be_read_in_the_next_step_only },
    { "a_tag_size_holds_from_the_next_step_on", a_tag_size_holds_from_the_next_step_on },
    { "messages_without_tag_and_payload_count", messages_without_tag_and_payload_count },
    { "a_move_cuts_off_what_has_no_room", a_move_cuts_off_what_has_no_room },
    { "hpmove_points_to_what_lies_as_its_type_asks_for", hpmove_points_to_what_lies_as_its_type_asks_for },
    { "what_hpmove_points_to_stays_until_the_step_ends", what_hpmove_points_to_stays_until_the_step_ends },
    { "everybody_sends_to_everybody", everybody_sends_to_everybody },
    { NULL, NULL },
};
