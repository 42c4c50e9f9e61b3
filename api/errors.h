/* errors.h — the registry of public errors, made from errors.def. */
#ifndef SUANPAN_API_ERRORS_H
#define SUANPAN_API_ERRORS_H

#include <stddef.h>

enum api_error {
#define X(number, slug, status, title) API_ERROR_##slug,
#include "api/errors.def"
#undef X
    API_ERROR_COUNT
};

struct api_error_info {
    int number, status;
    const char *slug, *title;
};

/* For any value below API_ERROR_COUNT. */
const struct api_error_info *api_error_info(enum api_error e);
/* API_ERROR_internal_error for a slug that nobody registered. */
enum api_error api_error_by_slug(const char *slug);

#endif
