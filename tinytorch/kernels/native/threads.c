/* A few threads that share the pieces of a loop. After a loop they wait actively for a moment, because waking a thread
takes tens of microseconds, and then sleep. They end with the process, and a fork begins without them. Where there is no
pthread, or another thread of the program uses the threads, the caller does all pieces. */
#define _POSIX_C_SOURCE 200809L                /* for clocks and signal masks of threads */
#include "common.h"

/* Waits until stores past the caches (common.h) have arrived, as other threads expect. */
static void arrive(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_sfence();
#endif
}

static void all_of(int64_t count, int64_t grain, piece work, const void *args)
{
    for (int64_t first = 0; first < count; first += grain)
        work(args, first, count - first < grain ? count : first + grain);
    arrive();
}

#if defined(_WIN32)

void share(int64_t threads, int64_t count, int64_t grain, piece work, const void *args)
{
    (void)threads;
    all_of(count, grain, work, args);
}

#else
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define MOST 64
#define MOMENT 150000                          /* nanoseconds of active waiting */

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;      /* held by the caller that uses the threads */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;       /* protects the following variables */
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static int64_t helpers, wanted;
static atomic_int_fast64_t inside;
static atomic_uint_fast64_t job;
static struct { int64_t count, grain; piece work; const void *args; } now;

/* The pieces that a thread takes first, which follow each other and are the same ones in the next loop of this length: its
own caches may still have them. Then it takes those that others have left. No two ranges share a line of memory. */
static struct { atomic_int_fast64_t next; int64_t end; char rest[48]; } ranges[MOST + 1];
static int64_t sharing;                        /* the number of ranges */

static void take_pieces(int64_t thread)
{
    int64_t piece;
    for (int64_t i = 0; i < sharing; i++) {
        const int64_t k = (thread + i) % sharing;
        while ((piece = atomic_fetch_add(&ranges[k].next, 1)) < ranges[k].end) {
            const int64_t first = piece * now.grain;
            now.work(now.args, first, now.count - first < now.grain ? now.count : first + now.grain);
        }
    }
    arrive();
}

static int64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void *help(void *number)
{
    uint64_t seen = 0;
    for (;;) {
        for (int64_t end = nanoseconds() + MOMENT; atomic_load(&job) == seen && nanoseconds() < end;)
            pause_a_little();
        pthread_mutex_lock(&lock);
        while (atomic_load(&job) == seen)
            pthread_cond_wait(&begun, &lock);
        seen = atomic_load(&job);
        if (!wanted) {                         /* the loop has ended already */
            pthread_mutex_unlock(&lock);
            continue;
        }
        wanted--;
        atomic_fetch_add(&inside, 1);
        pthread_mutex_unlock(&lock);
        take_pieces((intptr_t)number);
        pthread_mutex_lock(&lock);
        if (atomic_fetch_sub(&inside, 1) == 1)
            pthread_cond_signal(&ended);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Starts helpers until there are `n`, or no more can be started. They block all signals, which belong to the program's
threads. */
static void hire(int64_t n)
{
    sigset_t all, before;
    pthread_t thread;
    if (helpers >= n)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (helpers < n && pthread_create(&thread, NULL, help, (void *)(intptr_t)(helpers + 1)) == 0) {
        pthread_detach(thread);
        helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A forked process begins with free locks and without helpers. */
static void begin_anew(void)
{
    pthread_mutex_init(&taken, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&ended, NULL);
    helpers = wanted = 0;
    atomic_store(&inside, 0);
}

__attribute__((constructor)) static void look_out_for_forks(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

void share(int64_t threads, int64_t count, int64_t grain, piece work, const void *args)
{
    int64_t pieces = (count + grain - 1) / grain, n = (threads < pieces ? threads : pieces) - 1;
    n = n < MOST ? n : MOST;
    if (n < 1 || pthread_mutex_trylock(&taken)) {
        all_of(count, grain, work, args);
        return;
    }
    pthread_mutex_lock(&lock);
    hire(n);
    now.count = count, now.grain = grain, now.work = work, now.args = args;
    wanted = n < helpers ? n : helpers;
    sharing = wanted + 1;
    for (int64_t i = 0; i < sharing; i++) {
        atomic_store(&ranges[i].next, pieces * i / sharing);
        ranges[i].end = pieces * (i + 1) / sharing;
    }
    atomic_fetch_add(&job, 1);
    pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&lock);
    take_pieces(0);
    pthread_mutex_lock(&lock);
    wanted = 0;                                /* helpers that come later have nothing to do */
    pthread_mutex_unlock(&lock);
    for (int64_t end = nanoseconds() + MOMENT; atomic_load(&inside) && nanoseconds() < end;)
        pause_a_little();
    pthread_mutex_lock(&lock);
    while (atomic_load(&inside))
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&taken);
}
#endif
