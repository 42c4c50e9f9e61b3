/* test_parts.c — settings, log lines, content coding, the form's files and metrics, each on its own. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/assets.h"
#include "server/config.h"
#include "server/gzip.h"
#include "server/listen.h"
#include "server/log.h"
#include "server/metrics.h"

Test(config, flags_win_over_environment_over_defaults)
{
    char *environment[] = {"HOME=/x", "SUANPAN_PORT=9001", "SUANPAN_MAX_IN_FLIGHT=5", "SUANPAN_DB=/env.db", NULL};
    char port[] = "--port", value[] = "9002", host[] = "--host=::1", file[] = "plan.json", more[] = "x";
    char *arguments[] = {port, value, file, host, more};
    struct config config;
    struct err err = {0};
    int rest = 0;
    cr_assert(config_read(&config, environment, 5, arguments, &rest, &err) == 0, "%s", err.detail);
    cr_expect(config.port == 9002 && config.max_in_flight == 5 && config.idle_timeout_s == 15);
    cr_expect(strcmp(config.host, "::1") == 0 && strcmp(config.db, "/env.db") == 0);
    cr_expect(rest == 2 && strcmp(arguments[0], "plan.json") == 0 && strcmp(arguments[1], "x") == 0);
}

Test(config, refuses_by_table)
{
    static const struct {
        const char *variable, *flag, *value;
        enum err_code code;
    } rows[] = {
        {"SUANPAN_=1", NULL, NULL, ERR_INVALID},
        {"SUANPAN_port=1", NULL, NULL, ERR_INVALID},
        {"SUANPAN_PORT=", NULL, NULL, ERR_INVALID},
        {"SUANPAN_PORT= 1", NULL, NULL, ERR_INVALID},
        {"SUANPAN_PORT=1.5", NULL, NULL, ERR_INVALID},
        {"SUANPAN_PORT=99999999999999999999", NULL, NULL, ERR_RANGE},
        {"SUANPAN_DB=", NULL, NULL, ERR_RANGE},
        {NULL, "--port", "-1", ERR_RANGE},
        {NULL, "--port", NULL, ERR_INVALID},
        {NULL, "--por", "1", ERR_INVALID},
        {NULL, "--", NULL, ERR_INVALID},
        {NULL, "--request-memory-kib", "1", ERR_RANGE},
        {NULL, "--log-level=trace", NULL, ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char variable[64] = "A=B", flag[64] = "", value[64] = "";
        char *environment[] = {variable, NULL}, *arguments[] = {flag, value};
        struct config config;
        struct err err = {0};
        int rest = 0;
        if (rows[i].variable != NULL)
            strncpy(variable, rows[i].variable, sizeof variable - 1);
        if (rows[i].flag != NULL)
            strncpy(flag, rows[i].flag, sizeof flag - 1);
        if (rows[i].value != NULL)
            strncpy(value, rows[i].value, sizeof value - 1);
        int n = (rows[i].flag != NULL) + (rows[i].value != NULL);
        cr_expect(config_read(&config, environment, n, arguments, &rest, &err) == -1, "row %zu passes", i);
        cr_expect(err.code == rows[i].code && err.pointer[0] != '\0', "row %zu: %s %s", i, err_name(err.code),
                  err.detail);
    }
}

Test(config, every_setting_is_documented)
{
    char *none[] = {NULL}, *printed = NULL, *line, *rest;
    char page[32768], row[256];
    struct config config;
    struct err err = {0};
    size_t size = 0, n = 0;
    int left = 0;
    cr_assert(config_read(&config, none, 0, none, &left, &err) == 0);
    FILE *to = open_memstream(&printed, &size), *f = fopen("docs/operation.md", "rb");
    cr_assert(to != NULL && f != NULL);
    config_print(&config, to);
    fclose(to);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    for (line = strtok_r(printed, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest), n++) {
        char name[64], value[64];
        cr_assert(sscanf(line, "%63s = %63s", name, value) == 2, "%s", line);
        snprintf(row, sizeof row, "| `%s` | %s |", name, value);
        cr_expect(strstr(page, row) != NULL, "docs/operation.md has no row %s", row);
    }
    cr_expect(n >= 15, "only %zu settings", n);
    free(printed);
}

Test(log, values_cannot_forge_a_line)
{
    static const char *const rows[][2] = {
        {"plain", "plain"},
        {"", "\"\""},
        {"a b", "\"a b\""},
        {"a=b", "\"a=b\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"a\nts=x", "\"a\\x0ats=x\""},
        {"\x1b[31m", "\"\\x1b[31m\""},
        {"合肥", "\"合肥\""},
        {"\xff\xfe", "\"\\xff\\xfe\""},
        {"\xe5\x90", "\"\\xe5\\x90\""},
        {"\xc2\x85x", "\"\\xc2\\x85x\""},        /* C1 control */
        {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""}, /* surrogate */
        {"\xc0\xaf", "\"\\xc0\\xaf\""},          /* overlong */
    };
    char out[LOG_TEXT_MAX * 4 + 16];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = log_escape(rows[i][0], out, sizeof out);
        cr_expect(strcmp(out, rows[i][1]) == 0 && n == strlen(out), "row %zu: %s", i, out);
    }
    char large[5000];
    memset(large, '\x01', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    size_t n = log_escape(large, out, sizeof out);
    cr_expect(n < sizeof out && strcmp(out + n - 4, "...\"") == 0, "%zu", n);
    memset(large, 'a', sizeof large - 1);
    n = log_escape(large, out, sizeof out);
    cr_expect(n == LOG_TEXT_MAX + 3, "%zu", n);
}

Test(log, a_line_never_outgrows_its_buffer)
{
    struct log_line l;
    char large[4000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    log_start(&l, LOG_ERROR, "e");
    for (int i = 0; i < 40; i++)
        log_text(&l, "k", large);
    cr_expect(l.len < sizeof l.text);
    log_set_level(LOG_ERROR);
    log_start(&l, LOG_INFO, "e");
    log_text(&l, "k", "v");
    cr_expect(l.dropped && l.len == 0);
}

Test(gzip, is_sent_only_to_those_who_ask)
{
    static const struct {
        const char *value;
        bool accepted;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"x-gzip", true},
        {"br", false},
        {"br, gzip", true},
        {"br,gzip;q=0.1", true},
        {"gzip;q=0", false},
        {"gzip; q=0.000", false},
        {"gzip;q=0.001", true},
        {"*", true},
        {"*;q=0", false},
        {"gzip;q=0, *", false},
        {"identity", false},
        {"gzipped", false},
        {"br;q=1.0, *;q=0.5", true},
        {"deflate, , gzip", true},
        {",,,", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect(gzip_accepted(rows[i].value) == rows[i].accepted, "%s",
                  rows[i].value != NULL ? rows[i].value : "(absent)");
    cr_expect(!gzip_worthwhile("application/json", GZIP_MIN_BYTES) &&
              gzip_worthwhile("application/json", GZIP_MIN_BYTES + 1));
    cr_expect(!gzip_worthwhile("image/png", 100000) && !gzip_worthwhile(NULL, 100000) &&
              gzip_worthwhile("text/csv; charset=utf-8", 100000));
}

Test(gzip, gives_back_what_it_took)
{
    static const size_t sizes[] = {1025, 4096, 70000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *plain = malloc(sizes[i]), *coded = NULL, *back = malloc(sizes[i]);
        size_t coded_len = 0;
        for (size_t k = 0; k < sizes[i]; k++)
            plain[k] = (char)('a' + (k * k / 7) % 23);
        cr_assert(gzip_encode(plain, sizes[i], &coded, &coded_len) == 0);
        cr_expect(coded_len < sizes[i]);
        z_stream z = {.next_in = (Bytef *)coded,
                      .avail_in = (uInt)coded_len,
                      .next_out = (Bytef *)back,
                      .avail_out = (uInt)sizes[i]};
        cr_assert(inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END);
        cr_expect(z.total_out == sizes[i] && memcmp(plain, back, sizes[i]) == 0);
        inflateEnd(&z);
        free(plain);
        free(coded);
        free(back);
    }
    /* What does not shrink stays plain. */
    unsigned char noise[2048];
    unsigned state = 1;
    char *coded = NULL;
    size_t coded_len = 0;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)((state = state * 1103515245u + 12345u) >> 16);
    cr_expect(gzip_encode(noise, sizeof noise, &coded, &coded_len) == -1 && coded == NULL);
}

Test(assets, are_found_by_their_own_name_only)
{
    static const struct embed_file files[] = {{"app.css", (const unsigned char *)"a{}", 3},
                                              {"index.html", (const unsigned char *)"<p>", 3},
                                              {"js/main.js", (const unsigned char *)"1", 1}};
    static const struct embed_file more[] = {{"examples/one.json", (const unsigned char *)"{}", 2}};
    const struct embed_table form = {files, 3}, examples = {more, 1};
    const struct embed_table *const tables[] = {&form, &examples};
    static const struct {
        const char *path, *type;
    } rows[] = {{"/", "text/html; charset=utf-8"},
                {"/index.html", "text/html; charset=utf-8"},
                {"/app.css", "text/css; charset=utf-8"},
                {"/js/main.js", "text/javascript; charset=utf-8"},
                {"/examples/one.json", "application/json; charset=utf-8"},
                {"/one.json", NULL},
                {"/js", NULL},
                {"/js/", NULL},
                {"//app.css", NULL},
                {"/js/../app.css", NULL},
                {"/APP.css", NULL},
                {"/app.css/", NULL},
                {"", NULL}};
    struct assets assets;
    struct err err = {0};
    cr_assert(assets_init(&assets, tables, 2, &err) == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct asset *a = assets_find(&assets, rows[i].path);
        cr_expect((a == NULL) == (rows[i].type == NULL), "%s", rows[i].path);
        cr_expect(a == NULL || strcmp(a->type, rows[i].type) == 0, "%s", rows[i].path);
    }
    const char *tag = assets.items[0].etag;
    char list[128];
    snprintf(list, sizeof list, "\"x\", W/%s", tag);
    cr_expect(assets_tag_matches(tag, tag) && assets_tag_matches(list, tag) && assets_tag_matches("*", tag));
    cr_expect(!assets_tag_matches(NULL, tag) && !assets_tag_matches("\"x\"", tag) && !assets_tag_matches("", tag));
    assets_done(&assets);
}

Test(metrics, histograms_are_cumulative_and_add_up)
{
    struct metrics m = {0};
    struct metrics_gauges g = {.version = "1"};
    struct buf text;
    buf_init(&text, 1 << 20);
    metrics_request(&m, "GET /x", 200, 400000);
    metrics_request(&m, "GET /x", 200, 500000); /* the bound belongs to its bucket */
    metrics_request(&m, "GET /x", 404, 2000000);
    metrics_request(&m, "GET /x", 200, 20000000000);
    metrics_write(&m, &g, &text);
    static const char *const lines[] = {
        "suanpan_http_requests_total{route=\"GET /x\",status=\"200\"} 3\n",
        "suanpan_http_requests_total{route=\"GET /x\",status=\"404\"} 1\n",
        "duration_seconds_bucket{route=\"GET /x\",le=\"0.0005\"} 2\n",
        "duration_seconds_bucket{route=\"GET /x\",le=\"0.001\"} 2\n",
        "duration_seconds_bucket{route=\"GET /x\",le=\"0.0025\"} 3\n",
        "duration_seconds_bucket{route=\"GET /x\",le=\"10\"} 3\n",
        "duration_seconds_bucket{route=\"GET /x\",le=\"+Inf\"} 4\n",
        "duration_seconds_count{route=\"GET /x\"} 4\n",
        "duration_seconds_sum{route=\"GET /x\"} 20.0029\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(text.data, lines[i]) != NULL, "no %s in\n%s", lines[i], text.data);
    buf_done(&text);
}

Test(listen, knows_loopback)
{
    cr_expect(listen_is_loopback("127.0.0.1") && listen_is_loopback("127.1.2.3") && listen_is_loopback("::1") &&
              listen_is_loopback("localhost"));
    cr_expect(!listen_is_loopback("0.0.0.0") && !listen_is_loopback("::") && !listen_is_loopback("10.0.0.1"));
}
