/* log.h — between the readers of a training log's lines and the choice of what its iteration times are. */
#ifndef SUANPAN_PLANNER_DIAGNOSIS_LOG_H
#define SUANPAN_PLANNER_DIAGNOSIS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "planner/diagnosis/diagnosis.h"

#define LOG_RANK_NONE (-1)

/* One iteration time, or one numbered step with its time stamp. */
struct log_time {
    int key;        /* which of the printed figures: log_keys' place; of a step: which word numbers it */
    double value_s; /* iteration time; of a step: its time stamp */
    double step;    /* NAN = not printed */
    double of;      /* the number behind its "/": how many there will be, or the step where the first is the epoch's */
    int rank;
    bool after_pause; /* an evaluation or a checkpoint was logged since the one before */
    bool day_only;    /* a stamp without a date */
};

struct log_times {
    struct log_time *items;
    size_t n, cap;
};

/* One state of a progress bar. */
struct log_bar {
    double n, total, elapsed_s, rate_s; /* rate_s: seconds an iteration, smoothed; NAN = "?" */
};

struct log_bars {
    struct log_bar *items;
    size_t n, cap;
};

/* Waiting for data, and the iteration it was printed with. */
struct log_wait {
    double data_s, time_s;
    int rank;
};

struct log_waits {
    struct log_wait *items;
    size_t n, cap;
};

/* Iteration times in the order of the log, each with the step it was printed with (NAN: none). */
struct log_series {
    double *times_s, *steps;
    bool *after_pause;
    size_t n;
};

/* The columns of a table of times; columns 0 = none so far. */
struct log_table {
    int key, column, columns; /* key -1: column holds time stamps */
    int step_column;          /* -1 = none */
    char separator;
    double unit_s;
};

struct log {
    struct arena *arena;
    struct log_table table;
    bool in_list; /* of times, over several lines */
    double list_unit_s;
    struct log_times times, steps;
    struct log_bars bars;
    struct log_waits waits;
    double profile_wait_s, profile_batch_s, profile_calls; /* means of a profiler's table; 0 = none */
    bool saw_pause, framework_below;
    struct iteration_stats *stats; /* figures taken along the way */
};

size_t log_key_count(void);
/* Fewer of these are somebody's prose. */
size_t log_key_at_least(int key);
/* An iteration's whole time, the parts of it a framework times, or a running mean over the run so far. */
enum log_rank { LOG_EXACT = 0, LOG_PARTLY, LOG_SMOOTHED };
enum log_rank log_key_rank(int key);

/* Seconds in the unit of time that stands at p, and nothing more to the word; 0 when none. */
double log_unit_at(const char *p);

/* Seconds a step as a line says it by its units alone: "0.45s per step", "2.5 steps/s", a duration between two bars.
 * NAN: it does not. */
double log_time_per_step(const char *line);
double log_time_of_rate(const char *line);
double log_lone_time(const char *line);

/* The key whose word these n bytes are, maybe with a unit ("step_time (ms)", "iter_time_s"); -1 when none. */
int log_key_named(const char *name, size_t n, double *ret_unit_s);

/* True when the line is a table's heading or part of a list; a table's rows may be read as lines, too. */
bool log_take_table(struct log *l, const char *line);
/* What one line says. */
void log_take_times(struct log *l, const char *line, int rank);
/* The number of the step a line is about and which word numbers it; -1 when none. */
int log_step_of(const char *line, double *ret_step, double *ret_of);
void log_take_step(struct log *l, const char *line, int rank);
void log_take_figures(struct log *l, const char *line, int rank);
/* True when the line holds a bar (of training or not). */
bool log_take_bars(struct log *l, const char *line);
/* Leaves one run of a series that holds several; marks where a run begins anew as after a pause. */
void log_one_run(struct log_series *s, struct arena *arena);
/* The name of the framework a line gives away; NULL when none. *ret_below: it may run below another one, whose own sign
 * counts more. */
const char *log_framework(const char *line, bool *ret_below);

#endif
