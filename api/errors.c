/* errors.c — lookups in the registry of public errors. */
#include "api/errors.h"

#include <string.h>

static const struct api_error_info infos[API_ERROR_COUNT] = {
#define X(number, slug, status, title) {(number), (status), #slug, (title)},
#include "api/errors.def"
#undef X
};

const struct api_error_info *api_error_info(enum api_error e)
{
    return &infos[e < API_ERROR_COUNT ? e : API_ERROR_internal_error];
}

enum api_error api_error_by_slug(const char *slug)
{
    for (int e = 0; e < API_ERROR_COUNT; e++)
        if (slug && strcmp(infos[e].slug, slug) == 0)
            return (enum api_error)e;
    return API_ERROR_internal_error;
}
