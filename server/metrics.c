/* metrics.c — keeps and prints what metrics.h names. */
#include "server/metrics.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const uint64_t bounds_us[METRICS_BUCKETS] = {500,   1000,   2500,   5000,    10000,   25000,
                                                    50000, 100000, 250000, 1000000, 2500000, 10000000};

static void observe(struct metrics_histogram *list, size_t *n, const char *route, uint64_t took_ns)
{
    size_t i = 0, b = 0;
    while (i < *n && strcmp(list[i].route, route) != 0)
        i++;
    if (i == *n) {
        if (*n == METRICS_ROUTES_MAX)
            return;
        list[(*n)++].route = route;
    }
    while (b < METRICS_BUCKETS && took_ns > bounds_us[b] * 1000)
        b++;
    list[i].buckets[b]++;
    list[i].sum_ns += took_ns;
    list[i].count++;
}

void metrics_request(struct metrics *m, const char *route, int status, uint64_t took_ns)
{
    size_t i = 0;
    while (i < m->n_requests && (m->requests[i].status != status || strcmp(m->requests[i].route, route) != 0))
        i++;
    if (i == m->n_requests) {
        if (i == METRICS_SERIES_MAX)
            return;
        m->requests[i].route = route;
        m->requests[i].status = status;
        m->n_requests++;
    }
    m->requests[i].count++;
    observe(m->latency, &m->n_latency, route, took_ns);
}

void metrics_work(struct metrics *m, const char *route, uint64_t took_ns)
{
    observe(m->work, &m->n_work, route, took_ns);
}

static void head(struct buf *to, const char *name, const char *type, const char *help)
{
    buf_addf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(struct buf *to, const char *name, const char *type, const char *help, double value)
{
    head(to, name, type, help);
    buf_addf(to, "%s %.15g\n", name, value);
}

static void histograms(struct buf *to, const char *name, const char *help, const struct metrics_histogram *list,
                       size_t n)
{
    head(to, name, "histogram", help);
    for (size_t i = 0; i < n; i++) {
        uint64_t so_far = 0;
        for (size_t b = 0; b < METRICS_BUCKETS; b++) {
            so_far += list[i].buckets[b];
            buf_addf(to, "%s_bucket{route=\"%s\",le=\"%g\"} %llu\n", name, list[i].route, (double)bounds_us[b] / 1e6,
                     (unsigned long long)so_far);
        }
        buf_addf(to, "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name, list[i].route,
                 (unsigned long long)list[i].count);
        buf_addf(to, "%s_sum{route=\"%s\"} %.9g\n", name, list[i].route, (double)list[i].sum_ns / 1e9);
        buf_addf(to, "%s_count{route=\"%s\"} %llu\n", name, list[i].route, (unsigned long long)list[i].count);
    }
}

void metrics_write(const struct metrics *m, const struct metrics_gauges *g, struct buf *to)
{
    struct rusage usage = {0};
    head(to, "suanpan_build_info", "gauge", "The version that runs.");
    buf_addf(to, "suanpan_build_info{version=\"%s\"} 1\n", g->version);
    head(to, "suanpan_http_requests_total", "counter", "Requests answered, by route and status.");
    for (size_t i = 0; i < m->n_requests; i++)
        buf_addf(to, "suanpan_http_requests_total{route=\"%s\",status=\"%d\"} %llu\n", m->requests[i].route,
                 m->requests[i].status, (unsigned long long)m->requests[i].count);
    histograms(to, "suanpan_http_request_duration_seconds", "From the request line to the last byte handed over.",
               m->latency, m->n_latency);
    histograms(to, "suanpan_work_duration_seconds", "On a worker: decoding, planning, encoding.", m->work, m->n_work);
    single(to, "suanpan_http_aborted_total", "counter", "Requests whose client went away.", (double)m->aborted);
    single(to, "suanpan_http_framing_refused_total", "counter", "Requests refused by the header guard.",
           (double)m->framing_refused);
    single(to, "suanpan_http_overload_refused_total", "counter", "Requests refused with 503 for overload.",
           (double)m->overload_refused);
    single(to, "suanpan_http_deadline_cut_total", "counter", "Connections cut by a deadline.", (double)m->deadline_cut);
    single(to, "suanpan_http_response_bytes_total", "counter", "Bytes of bodies sent.", (double)m->response_bytes);
    single(to, "suanpan_http_connections", "gauge", "Open connections.", (double)g->connections);
    single(to, "suanpan_work_in_flight", "gauge", "Requests on the worker pool, waiting ones included.",
           (double)g->in_flight);
    single(to, "suanpan_work_in_flight_limit", "gauge", "Above it requests are refused with 503.",
           (double)g->max_in_flight);
    single(to, "suanpan_ready", "gauge", "1 when /readyz says 200.", g->ready);
    single(to, "suanpan_catalog_revision", "gauge", "Revision of the catalog that answers.",
           (double)g->catalog_revision);
    single(to, "suanpan_db_schema_version", "gauge", "Newest migration of the database.", g->schema_version);
    single(to, "suanpan_db_writable", "gauge", "1 when the database takes writes.", g->db_writable);
    single(to, "suanpan_db_corrupt", "gauge", "1 when a read or write hit corruption.", g->db_corrupt);
    single(to, "suanpan_db_busy_retries_total", "counter", "Transactions run again because the database was busy.",
           (double)g->db_busy_retries);
    single(to, "process_uptime_seconds", "gauge", "Since the start.", (double)g->uptime_ns / 1e9);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        single(to, "process_cpu_seconds_total", "counter", "User and system time.",
               (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
        single(to, "process_max_resident_memory_bytes", "gauge", "The most memory ever held.",
               (double)usage.ru_maxrss * 1024);
    }
}
