/* reply.c — from a response of plain bytes to MHD's, with the headers that every answer carries. */
#include <stdlib.h>
#include <string.h>

#include "server/gzip.h"
#include "server/srv.h"

static const char page_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                  "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
                                  "frame-ancestors 'none'";
static const char data_policy[] = "default-src 'none'; frame-ancestors 'none'";

void reply_problem(struct request *r, const char *slug, const char *detail)
{
    api_response_done(&r->res);
    r->res = (struct api_response){0};
    r->gzipped = false;
    api_problem(&r->api, slug, detail, &r->res);
}

void reply_code(struct request *r)
{
    struct api_response *res = &r->res;
    char *coded = NULL;
    size_t coded_len = 0;
    if (!gzip_worthwhile(res->content_type, res->body_len) || !gzip_accepted(r->accept_encoding) ||
        gzip_encode(res->body, res->body_len, &coded, &coded_len) != 0)
        return;
    free(res->body);
    res->body = coded;
    res->body_len = coded_len;
    r->gzipped = true;
}

static void header(struct MHD_Response *m, const char *name, const char *value)
{
    /* Fails only without memory, or on a line break inside a value, which must not go out anyway. */
    (void)MHD_add_response_header(m, name, value);
}

static void common_headers(const struct request *r, struct MHD_Response *m, const char *policy)
{
    header(m, "X-Request-Id", r->id);
    header(m, "X-Content-Type-Options", "nosniff");
    header(m, "Referrer-Policy", "no-referrer");
    header(m, "Content-Security-Policy", policy);
    if (r->close || r->srv->state != SRV_RUNNING)
        header(m, "Connection", "close");
}

static struct MHD_Response *asset_response(struct request *r, unsigned *ret_status)
{
    const struct asset *a = r->asset;
    bool coded = a->gzip != NULL && gzip_accepted(r->accept_encoding);
    const char *etag = coded ? a->gzip_etag : a->etag;
    bool same = assets_tag_matches(r->api.if_none_match, etag);
    const void *data = coded ? a->gzip : a->data;
    size_t size = same ? 0 : coded ? a->gzip_size : a->size;
    /* MHD only reads a persistent buffer, whatever its prototype says. */
    struct MHD_Response *m = MHD_create_response_from_buffer(size, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
    if (m == NULL)
        return NULL;
    *ret_status = same ? 304 : 200;
    r->sent = strcmp(r->method, "HEAD") == 0 ? 0 : size;
    header(m, "Content-Type", a->type);
    header(m, "ETag", etag);
    header(m, "Cache-Control", "no-cache"); /* keep, but ask: the files change only with the binary */
    header(m, "Vary", "Accept-Encoding");
    if (coded && !same)
        header(m, "Content-Encoding", "gzip");
    common_headers(r, m, page_policy);
    return m;
}

/* A strong ETag names the plain bytes; the coded ones are only equivalent. */
static void etag_header(const struct request *r, struct MHD_Response *m, const char *etag)
{
    char weak[520] = "W/";
    if (!r->gzipped || strncmp(etag, "W/", 2) == 0 || strlen(etag) > sizeof weak - 3) {
        header(m, "ETag", etag);
        return;
    }
    memcpy(weak + 2, etag, strlen(etag) + 1);
    header(m, "ETag", weak);
}

static struct MHD_Response *api_response(struct request *r, unsigned *ret_status)
{
    struct api_response *res = &r->res;
    bool cache_control = false, tagged = false, retry = false;
    static char nothing[] = "";
    struct MHD_Response *m =
        MHD_create_response_from_buffer(res->body_len, res->body != NULL ? res->body : nothing,
                                        res->body != NULL ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (m == NULL)
        return NULL;
    *ret_status = (unsigned)res->status;
    r->sent = res->head || (r->method != NULL && strcmp(r->method, "HEAD") == 0) ? 0 : res->body_len;
    res->body = NULL; /* MHD's now */
    if (res->content_type != NULL && res->body_len > 0)
        header(m, "Content-Type", res->content_type);
    for (size_t i = 0; i < res->n_headers; i++) {
        const char *name = res->headers[i].name, *value = res->headers[i].value;
        cache_control = cache_control || strcmp(name, "Cache-Control") == 0;
        retry = retry || strcmp(name, "Retry-After") == 0;
        if (strcmp(name, "ETag") == 0) {
            tagged = true;
            etag_header(r, m, value);
        } else {
            header(m, name, value);
        }
    }
    if (!cache_control)
        header(m, "Cache-Control", tagged ? "no-cache" : "no-store");
    if (res->status == 503 && !retry)
        header(m, "Retry-After", "1");
    if (gzip_worthwhile(res->content_type, res->body_len) || r->gzipped)
        header(m, "Vary", "Accept-Encoding");
    if (r->gzipped)
        header(m, "Content-Encoding", "gzip");
    common_headers(r, m, data_policy);
    return m;
}

enum MHD_Result reply_send(struct request *r)
{
    unsigned status = 0;
    struct MHD_Response *m = r->asset != NULL ? asset_response(r, &status) : api_response(r, &status);
    if (m == NULL || status == 0) {
        if (m != NULL)
            MHD_destroy_response(m);
        return MHD_NO;
    }
    enum MHD_Result queued = MHD_queue_response(r->mhd, status, m);
    MHD_destroy_response(m); /* drops our reference; MHD keeps its own until the bytes are out */
    r->stage = REQUEST_QUEUED;
    r->status = (int)status;
    if (r->conn != NULL)
        conn_enter(r->conn, CONN_WRITING);
    return queued;
}
