/* What the claims about libbsp have in common. */

#ifndef CLAIM_H
#define CLAIM_H

#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what))                                                                                                   \
            bsp_abort("%s:%d: process %d: not so: %s", __FILE__, __LINE__, (int)bsp_pid(), #what);                     \
    } while (0)

struct claim {
    const char *name;
    void (*hold)(void);
};

/* Memory of so many bytes that ends, or begins, where the program has none. */
char *guarded(size_t size, int at_end);

extern int me, all;

extern const struct claim registration_claims[], transfer_claims[], message_claims[], other_claims[];

#endif
