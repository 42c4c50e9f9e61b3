/* metrics.h — counters of the process in Prometheus' text form. Loop thread only, so plain integers do. */
#ifndef SUANPAN_SERVER_METRICS_H
#define SUANPAN_SERVER_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define METRICS_SERIES_MAX 256 /* route and status pairs; routes are a fixed list, so this is never reached */
#define METRICS_ROUTES_MAX 64
#define METRICS_BUCKETS 12

struct metrics_histogram {
    const char *route;
    uint64_t buckets[METRICS_BUCKETS + 1]; /* the last is +Inf; not cumulative here */
    uint64_t sum_ns, count;
};

struct metrics {
    struct {
        const char *route;
        int status;
        uint64_t count;
    } requests[METRICS_SERIES_MAX];
    size_t n_requests;
    struct metrics_histogram latency[METRICS_ROUTES_MAX]; /* whole request, by route */
    size_t n_latency;
    struct metrics_histogram work[METRICS_ROUTES_MAX]; /* time on a worker: decoding, planning, encoding */
    size_t n_work;
    uint64_t aborted, framing_refused, overload_refused, deadline_cut, response_bytes;
};

/* `route` must be static text. */
void metrics_request(struct metrics *m, const char *route, int status, uint64_t took_ns);
void metrics_work(struct metrics *m, const char *route, uint64_t took_ns);

/* Gauges that belong to others at the time of asking. */
struct metrics_gauges {
    size_t in_flight, connections, max_in_flight;
    int64_t catalog_revision;
    int schema_version;
    int db_writable, db_corrupt, ready;
    uint64_t db_busy_retries;
    uint64_t uptime_ns;
    const char *version;
};

void metrics_write(const struct metrics *m, const struct metrics_gauges *g, struct buf *to);

#endif
