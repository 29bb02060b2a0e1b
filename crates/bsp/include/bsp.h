/* bsp.h: the BSP programming library (BSPlib) for C and C++.
 *
 * The functions are those of the standard of 1997, with its signatures. A program that wants sizes, offsets and counts
 * of type size_t, and unsigned numbers of processes, as newer libraries have them, defines BSP_SIZE_T before it
 * includes this file. The two kinds may be linked together.
 *
 * Whatever a program does wrong ends the whole job with one line that begins with the function's name. */

#ifndef SUPERSTEP_BSP_H
#define SUPERSTEP_BSP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* bsp_size_t is for sizes and offsets, bsp_pid_t for numbers of processes. bsp_nprocs_t is what other libraries count
 * processes and messages with; a pointer to it may be given to bsp_qsize. */
#ifdef BSP_SIZE_T
#define bsp_begin bspz_begin
#define bsp_nprocs bspz_nprocs
#define bsp_pid bspz_pid
#define bsp_push_reg bspz_push_reg
#define bsp_put bspz_put
#define bsp_hpput bspz_hpput
#define bsp_get bspz_get
#define bsp_hpget bspz_hpget
#define bsp_set_tagsize bspz_set_tagsize
#define bsp_send bspz_send
#define bsp_qsize bspz_qsize
#define bsp_get_tag bspz_get_tag
#define bsp_move bspz_move
#define bsp_hpmove bspz_hpmove
#define bsp_bcast bspz_bcast
#define bsp_fold bspz_fold
#define bsp_scan bspz_scan
#define bsp_gather bspz_gather
#define bsp_scatter bspz_scatter
#define bsp_exchange bspz_exchange
typedef size_t bsp_size_t;
typedef size_t bsp_nprocs_t;
typedef unsigned int bsp_pid_t;
#else
typedef int bsp_size_t;
typedef int bsp_nprocs_t;
typedef int bsp_pid_t;
#endif

/* Processes */

void bsp_begin(bsp_pid_t maxprocs);
void bsp_end(void);
void bsp_init(void (*spmdproc)(void), int argc, char **argv);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
void bsp_abort(const char *format, ...);
bsp_pid_t bsp_nprocs(void);
bsp_pid_t bsp_pid(void);
double bsp_time(void);

/* Supersteps */

void bsp_sync(void);

/* Memory of other processes */

/* What lies there is not looked at. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
__attribute__((access(none, 1)))
#endif
void bsp_push_reg(const void *ident, bsp_size_t size);
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
__attribute__((access(none, 1)))
#endif
void bsp_pop_reg(const void *ident);
void bsp_put(bsp_pid_t pid, const void *src, void *dst, bsp_size_t offset, bsp_size_t nbytes);
void bsp_hpput(bsp_pid_t pid, const void *src, void *dst, bsp_size_t offset, bsp_size_t nbytes);
void bsp_get(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst, bsp_size_t nbytes);
void bsp_hpget(bsp_pid_t pid, const void *src, bsp_size_t offset, void *dst, bsp_size_t nbytes);
/* The standard's text has this spelling too. */
#define bsp_hput bsp_hpput

/* Messages */

void bsp_set_tagsize(bsp_size_t *tag_nbytes);
void bsp_send(bsp_pid_t pid, const void *tag, const void *payload, bsp_size_t payload_nbytes);
void bsp_qsize(bsp_nprocs_t *nmessages, bsp_size_t *accum_nbytes);
/* An empty queue has status -1, or (size_t)-1. */
void bsp_get_tag(bsp_size_t *status, void *tag);
void bsp_move(void *payload, bsp_size_t reception_nbytes);
bsp_size_t bsp_hpmove(void **tag_ptr, void **payload_ptr);

/* Collectives. Each is one superstep, and every process calls it. */

void bsp_bcast(bsp_pid_t root, void *data, bsp_size_t nbytes);
void bsp_fold(void (*op)(void *result, const void *left, const void *right, bsp_size_t nbytes), const void *src,
              void *dst, bsp_size_t nbytes);
void bsp_scan(void (*op)(void *result, const void *left, const void *right, bsp_size_t nbytes), const void *src,
              void *dst, bsp_size_t nbytes);
void bsp_gather(bsp_pid_t root, const void *src, void *dst, bsp_size_t nbytes);
void bsp_scatter(bsp_pid_t root, const void *src, void *dst, bsp_size_t nbytes);
void bsp_exchange(const void *src, void *dst, bsp_size_t nbytes);

/* Memory that other processes on this machine reach directly: high-performance transfers to and from it are as fast as
 * a copy. It is used like that of malloc, between bsp_begin and bsp_end. */

void *bsp_alloc(size_t nbytes);
void bsp_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
