/* Every process forks a child for each function of the library. The child calls it and must end with code 1; its parent
 * goes on as if nothing had been. */

#define _DEFAULT_SOURCE
#include <bsp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int area, value;

static void add(void *result, const void *left, const void *right, int size)
{
    (void)left, (void)right;
    memset(result, 0, (size_t)size);
}

static void nothing(void) {}

static void call(int which)
{
    int number = 0;
    void *pointer;
    switch (which) {
    case 0: bsp_sync(); break;
    case 1: bsp_end(); break;
    case 2: bsp_put(0, &value, &area, 0, 4); break;
    case 3: bsp_get(0, &area, 0, &value, 4); break;
    case 4: bsp_send(0, NULL, &area, 4); break;
    case 5: bsp_pid(); break;
    case 6: bsp_nprocs(); break;
    case 7: bsp_time(); break;
    case 8: bsp_begin(2); break;
    case 9: bsp_init(nothing, 0, NULL); break;
    case 10: bsp_push_reg(&area, 4); break;
    case 11: bsp_pop_reg(&area); break;
    case 12: bsp_qsize(&number, &number); break;
    case 13: bsp_set_tagsize(&number); break;
    case 14: bsp_hpmove(&pointer, &pointer); break;
    case 15: bsp_fold(add, &area, &value, 4); break;
    case 16: bsp_alloc(8); break;
    case 17: bsp_abort("gave up at %d", 7);
    }
}

/* Whether a child that makes a call ends with code 1. */
static int is_refused(int which)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        call(which);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(void)
{
    int which;
    bsp_begin(2);
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    printf("here\n");
    for (which = 0; which < 18; which++) {
        if (!is_refused(which))
            bsp_abort("call %d was not refused", which);
        value = which;
        bsp_put(1 - bsp_pid(), &value, &area, 0, sizeof value);
        bsp_sync();
        if (area != which)
            bsp_abort("call %d has done harm", which);
    }
    bsp_pop_reg(&area);
    bsp_end();
    if (!is_refused(6))
        return 3;
    printf("after\n");
    return 0;
}
