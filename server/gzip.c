/* gzip.c — zlib behind gzip.h. */
#include "server/gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

/* The weight of a coding in "gzip;q=0.5, *;q=0": zero or not is all that matters. */
static bool weight_is_zero(const char *params, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++)
        if ((params[i] == 'q' || params[i] == 'Q') && params[i + 1] == '=') {
            for (i += 2; i < n && (params[i] == '0' || params[i] == '.'); i++)
                ;
            return i == n || params[i] < '1' || params[i] > '9';
        }
    return false;
}

bool gzip_accepted(const char *accept_encoding)
{
    bool any = false;
    if (accept_encoding == NULL)
        return false;
    for (const char *p = accept_encoding; *p != '\0';) {
        p += strspn(p, " \t,");
        size_t item = strcspn(p, ","), name = strcspn(p, " \t;,");
        bool wanted = !weight_is_zero(p + name, item - name);
        if ((name == 4 && strncasecmp(p, "gzip", 4) == 0) || (name == 6 && strncasecmp(p, "x-gzip", 6) == 0))
            return wanted;
        if (name == 1 && *p == '*')
            any = wanted;
        p += item;
    }
    return any;
}

bool gzip_worthwhile(const char *content_type, size_t body_len)
{
    static const char *const kinds[] = {"application/json", "application/problem+json", "application/javascript",
                                        "image/svg+xml", "text/"};
    if (body_len <= GZIP_MIN_BYTES || content_type == NULL)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncasecmp(content_type, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

int gzip_encode(const void *body, size_t body_len, char **ret, size_t *ret_len)
{
    z_stream z = {0};
    if (body_len > UINT32_MAX / 2 || deflateInit2(&z, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    char *out = malloc(body_len);
    int rc = Z_MEM_ERROR;
    if (out != NULL) {
        z.next_in = (z_const Bytef *)body;
        z.avail_in = (uInt)body_len;
        z.next_out = (Bytef *)out;
        z.avail_out = (uInt)body_len; /* no room for more than the plain bytes: then plain is better */
        rc = deflate(&z, Z_FINISH);
    }
    size_t n = z.total_out;
    deflateEnd(&z);
    if (rc != Z_STREAM_END) {
        free(out);
        return -1;
    }
    *ret = out;
    *ret_len = n;
    return 0;
}
