/* Holds one claim about libbsp, by its name, or lists them.
 *
 *     claims --list
 *     claims NAME [PROCESSES] */

#define _DEFAULT_SOURCE
#include "claim.h"
#include <sys/mman.h>

int me, all;

static const struct claim *const groups[] = { registration_claims, transfer_claims, message_claims, other_claims };

char *guarded(size_t size, int at_end)
{
    size_t page = 4096, room = (size + page - 1) / page * page;
    char *start = (char *)mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == (char *)MAP_FAILED || (room > 0 && mprotect(start + page, room, PROT_READ | PROT_WRITE) != 0))
        bsp_abort("guarded: no memory");
    return at_end ? start + page + room - size : start + page;
}

int main(int argc, char **argv)
{
    const struct claim *claim = NULL;
    size_t group;
    if (argc < 2) {
        fprintf(stderr, "usage: claims --list | NAME [PROCESSES]\n");
        return 2;
    }
    for (group = 0; group < sizeof groups / sizeof *groups; group++) {
        const struct claim *one;
        for (one = groups[group]; one->name != NULL; one++) {
            if (strcmp(argv[1], "--list") == 0)
                printf("%s\n", one->name);
            if (strcmp(argv[1], one->name) == 0)
                claim = one;
        }
    }
    if (strcmp(argv[1], "--list") == 0)
        return 0;
    if (claim == NULL) {
        fprintf(stderr, "claims: there is no claim %s\n", argv[1]);
        return 2;
    }
    bsp_begin(argc > 2 ? (bsp_pid_t)atoi(argv[2]) : bsp_nprocs());
    me = (int)bsp_pid();
    all = (int)bsp_nprocs();
    claim->hold();
    bsp_sync();
    if (me == 0)
        printf("%s: holds on %d\n", claim->name, all);
    bsp_end();
    return 0;
}
