/* json_scan.h — looks at the bytes of a JSON body before any parser recurses into it.
 *
 * One pass, no allocation, no recursion. It is not a validator: jansson is. It bounds what a body may cost.
 */
#ifndef SUANPAN_API_JSON_SCAN_H
#define SUANPAN_API_JSON_SCAN_H

#include <stddef.h>

#define JSON_DEPTH_MAX 16
#define JSON_NODES_MAX 20000
#define JSON_STRING_MAX 4096
/* Texts that people paste: a config.json as text, the output of a tool. */
#define JSON_PASTED_MAX 1048576

struct json_place {
    int line, column; /* 1-based; 0 = not known. Columns count bytes' characters (code points). */
    size_t position;  /* byte offset */
};

enum json_scan_result { JSON_SCAN_OK = 0, JSON_SCAN_DEEP, JSON_SCAN_MANY, JSON_SCAN_LONG };

/* `pasted`: names of members whose string may be JSON_PASTED_MAX bytes long; NULL-terminated, may be NULL. */
enum json_scan_result json_scan(const char *bytes, size_t len, const char *const *pasted, struct json_place *ret_place);

/* Where a byte offset lies, as an editor shows it. */
void json_place_at(const char *bytes, size_t len, size_t position, struct json_place *ret);

#endif
