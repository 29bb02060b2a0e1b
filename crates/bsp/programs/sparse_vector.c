/* The elements other than zero of a vector that lies in blocks over the processes are sent to all of them.
 *
 *     sparse_vector [PROCESSES [SIZE]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bsp.h"

/* Collective. The tag of a message is an index, its payload the element. Gives how many there are. */
static int all_gather_sparse_vec(float *dense, int n_over_p, float **sparse_out, int **sparse_ivec_out)
{
    int global_idx, i, j, tag_size, nonzeros, nonzeros_size, status, *sparse_ivec = NULL;
    float *sparse = NULL;

    tag_size = sizeof(int);
    bsp_set_tagsize(&tag_size);
    bsp_sync();

    for (i = 0; i < n_over_p; i++)
        if (dense[i] != 0.0) {
            global_idx = n_over_p * bsp_pid() + i;
            for (j = 0; j < bsp_nprocs(); j++)
                bsp_send(j, &global_idx, &dense[i], sizeof(float));
        }
    bsp_sync();

    bsp_qsize(&nonzeros, &nonzeros_size);
    if (nonzeros_size != nonzeros * (int)sizeof(float))
        bsp_abort("sparse_vector: %d messages have %d bytes", nonzeros, nonzeros_size);
    if (nonzeros > 0) {
        sparse = (float *)calloc((size_t)nonzeros, sizeof(float));
        sparse_ivec = (int *)calloc((size_t)nonzeros, sizeof(int));
        if (sparse == NULL || sparse_ivec == NULL)
            bsp_abort("sparse_vector: no memory for %d elements", nonzeros);
        for (i = 0; i < nonzeros; i++) {
            bsp_get_tag(&status, &sparse_ivec[i]);
            if (status != (int)sizeof(float))
                bsp_abort("sparse_vector: a payload has %d bytes", status);
            bsp_move(&sparse[i], sizeof(float));
        }
    }
    bsp_set_tagsize(&tag_size);
    *sparse_out = sparse;
    *sparse_ivec_out = sparse_ivec;
    return nonzeros;
}

/* The vector: each seventh element is other than zero. */
static float element(int i)
{
    return i % 7 == 3 ? (float)(i + 1) : (float)0;
}

int main(int argc, char **argv)
{
    int i, n, p, share, nonzeros, expected, status, *indices;
    float *dense, *values;
    char *seen;

    bsp_begin(argc > 1 ? atoi(argv[1]) : bsp_nprocs());
    p = bsp_nprocs();
    share = ((argc > 2 ? atoi(argv[2]) : 1000) + p - 1) / p;
    n = share * p;
    dense = (float *)calloc((size_t)share, sizeof(float));
    seen = (char *)calloc((size_t)n, 1);
    if (dense == NULL || seen == NULL)
        bsp_abort("sparse_vector: no memory for %d elements", n);
    for (i = 0; i < share; i++)
        dense[i] = element(share * bsp_pid() + i);

    nonzeros = all_gather_sparse_vec(dense, share, &values, &indices);

    /* The order of the messages is free, so each is looked up by its index. */
    expected = 0;
    for (i = 0; i < n; i++)
        expected += element(i) != 0;
    if (nonzeros != expected)
        bsp_abort("sparse_vector: %d elements in place of %d", nonzeros, expected);
    for (i = 0; i < nonzeros; i++) {
        if (indices[i] < 0 || indices[i] >= n || seen[indices[i]])
            bsp_abort("sparse_vector: index %d is wrong, or came twice", indices[i]);
        if (values[i] != element(indices[i]))
            bsp_abort("sparse_vector: element %d is %f", indices[i], (double)values[i]);
        seen[indices[i]] = 1;
    }
    bsp_get_tag(&status, &i);
    if (status != -1)
        bsp_abort("sparse_vector: the queue has a message of %d bytes left", status);

    bsp_sync();
    if (bsp_pid() == 0)
        printf("sparse_vector: ok, %d of %d elements at each of %d processes\n", nonzeros, n, p);
    free(dense);
    free(seen);
    free(values);
    free(indices);
    bsp_end();
    return 0;
}
