/* fuzz_router.c — "METHOD path?query" lines to whole answers: no request makes the door fail. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz_catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[2048], *path, *query;
    if (size >= sizeof text || memchr(data, '\0', size))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    path = strchr(text, ' ');
    if (!path)
        return 0;
    *path++ = '\0';
    query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    struct api_route_info info;
    struct api_response res;
    struct arena *arena = arena_new(8u << 20);
    struct api_request req = {.method = text,
                              .path = path,
                              .query = query,
                              .accept_language = query,
                              .if_none_match = query,
                              .request_id = "fuzz",
                              .catalog = fuzz_catalog(),
                              .today = date_from_civil(2026, 11, 30),
                              .arena = arena};
    api_match(text, path, &info);
    api_handle(&req, &res);
    if (res.status < 200 || res.status > 599 || (info.status && info.status != res.status))
        abort();
    api_response_done(&res);
    arena_free(arena);
    return 0;
}
