/* notified.h: functions of the program that libc calls in threads of its own, for the
 * interposed functions that name such a one (SIGEV_THREAD). */
#ifndef BBPROF_NOTIFIED_H
#define BBPROF_NOTIFIED_H

#include "thread_bank.h"

#include <mqueue.h>
#include <signal.h>
#include <time.h>

typedef int (*create_timer_function)(clockid_t clock, struct sigevent *event, timer_t *timer);
typedef int (*notify_function)(mqd_t queue, const struct sigevent *event);

/* timer_create by `create`, mq_notify by `notify`: the thread that runs the event's function counts as any other. */
int notified_by_timer(create_timer_function create, clockid_t clock, struct sigevent *event, timer_t *timer);
int notified_by_queue(notify_function notify, mqd_t queue, const struct sigevent *event);

#endif
