/* What a program does that does one of several things: NAME does it, and --list says their names, each with how the
 * line begins that must be printed. */

#ifndef NAMED_H
#define NAMED_H

#include <stdio.h>
#include <string.h>

struct named {
    const char *name;
    void (*act)(void);
    const char *line;
};

/* With `around` it is this that acts, unless it is NULL. */
static int do_named(const struct named *all, size_t count, void (*around)(void (*act)(void)), int argc, char **argv)
{
    int lists = argc > 1 && strcmp(argv[1], "--list") == 0;
    size_t at;
    for (at = 0; at < count; at++) {
        if (lists)
            printf("%s|%s\n", all[at].name, all[at].line);
        else if (argc > 1 && strcmp(argv[1], all[at].name) == 0) {
            if (around)
                around(all[at].act);
            else
                all[at].act();
            return 0;
        }
    }
    return lists ? 0 : 2;
}

#endif
