/* command_plan.c — `suanpan plan FILE.json`: the main job without a server, as a table or as the API's own JSON.
 *
 * The database is opened read-only; where there is none yet, the catalog that is built in answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "base/buf.h"
#include "server/command.h"
#include "server/store.h"

#define INPUT_MAX ((size_t)1 << 20)

static int read_input(const char *file, struct buf *ret)
{
    char block[16384];
    size_t n = 0;
    FILE *f = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");
    if (f == NULL)
        return -1;
    buf_init(ret, INPUT_MAX);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(ret, block, n);
    int failed = ferror(f) || buf_failed(ret);
    if (f != stdin)
        fclose(f);
    if (failed)
        buf_done(ret);
    return failed ? -1 : 0;
}

/* Whether the text's outermost object has the member "workload"; a bare workload has not. */
static bool is_whole_request(const char *text, size_t n)
{
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '{' || text[i] == '[') {
            depth++;
        } else if (text[i] == '}' || text[i] == ']') {
            depth--;
        } else if (text[i] == '"') {
            size_t start = ++i;
            while (i < n && text[i] != '"')
                i += text[i] == '\\' ? 2 : 1;
            size_t after = i + 1;
            while (after < n && strchr(" \t\r\n", text[after]) != NULL)
                after++;
            if (depth == 1 && i - start == 8 && memcmp(text + start, "workload", 8) == 0 && after < n &&
                text[after] == ':')
                return true;
        }
    }
    return false;
}

static int as_request(struct buf *input)
{
    struct buf wrapped;
    if (is_whole_request(input->data, input->len))
        return 0;
    buf_init(&wrapped, INPUT_MAX + 32);
    buf_adds(&wrapped, "{\"workload\":");
    buf_add(&wrapped, input->data, input->len);
    buf_addc(&wrapped, '}');
    if (buf_failed(&wrapped)) {
        buf_done(&wrapped);
        return -1;
    }
    buf_done(input);
    *input = wrapped;
    return 0;
}

static int open_catalog(const struct config *config, struct store *ret, struct err *err)
{
    const struct store_options file = {.path = config->db, .read_only = true};
    const struct store_options built_in = {.path = ":memory:", .create = true};
    if (access(config->db, F_OK) == 0)
        return store_open(&file, ret, err);
    fprintf(stderr, "suanpan: no database %s yet; planning with the built-in catalog\n", config->db);
    return store_open(&built_in, ret, err);
}

static int answer(const struct config *config, const struct plan_arguments *arguments, struct buf *input,
                  struct store *store)
{
    struct arena *arena = arena_new((size_t)config->request_memory_kib * 1024);
    struct snapshot *snapshot = snapshot_ref(store->cell);
    struct api_response res = {0};
    struct api_request req = {.method = "POST",
                              .path = "/api/v1/plans",
                              .query = "",
                              .content_type = "application/json",
                              .accept = "application/json",
                              .accept_language = arguments->language,
                              .request_id = "cli",
                              .catalog = snapshot_catalog(snapshot),
                              .today = date_from_unix(time(NULL)),
                              .arena = arena};
    if (arena != NULL && (!arguments->json || as_request(input) == 0)) {
        req.body = input->data;
        req.body_len = input->len;
        if (arguments->json)
            api_handle(&req, &res);
        else
            api_plan_text(&req, arguments->language, &res);
    }
    FILE *to = res.status == 200 ? stdout : stderr;
    if (res.body_len > 0)
        fwrite(res.body, 1, res.body_len, to);
    if (res.body_len > 0 && res.body[res.body_len - 1] != '\n')
        fputc('\n', to);
    int status = res.status == 200 && fflush(stdout) == 0 ? 0 : 1;
    api_response_done(&res);
    snapshot_unref(snapshot);
    arena_free(arena);
    return status;
}

int command_plan(const struct config *config, const struct plan_arguments *arguments)
{
    struct store store;
    struct buf input;
    struct err err = {0};
    if (read_input(arguments->file, &input) != 0) {
        fprintf(stderr, "suanpan: %s cannot be read, or is larger than %zu bytes\n", arguments->file, INPUT_MAX);
        return 1;
    }
    api_init();
    if (open_catalog(config, &store, &err) != 0) {
        fprintf(stderr, "suanpan: %s: %s (%s)\n", config->db, err.detail, err_name(err.code));
        buf_done(&input);
        return 1;
    }
    int status = answer(config, arguments, &input, &store);
    store_close(&store);
    buf_done(&input);
    return status;
}
