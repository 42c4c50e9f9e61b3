/* jspec.h — what a JSON object may hold, as a table; one walk decodes it and finds every fault at once.
 *
 * A field names its member, type, bounds and where it goes (offset in the destination struct). Members that no field
 * names are refused, null is the same as absent. Nothing of jansson survives the walk: strings are copied to the
 * arena. Fault texts come from the message catalogs in the decode's language.
 */
#ifndef SUANPAN_API_JSPEC_H
#define SUANPAN_API_JSPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/json_scan.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/fault.h"
#include "planner/core/catalog.h"
#include "planner/core/workload.h"

#define JSPEC_POINTER_MAX 128

/* One decoding: what it may look at, and what it found wrong. */
struct decode {
    const struct catalog *catalog;
    struct arena *arena;
    enum language language; /* of the fault texts */
    date_t today;
    struct fault_list *faults;
    struct note_list *notes; /* what reading took for granted; NULL = nobody asks */
    struct {
        bool has;
        double min, max;
    } limits[FAULTS_MAX];    /* beside faults->items */
    struct json_place place; /* of a syntax error */
    const char *syntax;      /* "duplicate_member", "premature_end", ...; NULL = no syntax error */
    const char *limit;       /* "depth", "nodes", "string": which limit the body broke; NULL = none */
};

enum jtype {
    J_STRING = 1, /* const char *; min..max: length in bytes */
    J_BOOL,       /* bool */
    J_TRI,        /* enum tri */
    J_INT,        /* int; JSON integers only */
    J_NUMBER,     /* double */
    J_AMOUNT,     /* double, whole: 2000000000, 2e9 and 2.0e9 alike */
    J_ENUM,       /* int-sized enum by workload_enum_parse; `detail` is the enum workload_enum */
    J_DATE,       /* date_t */
    J_OBJECT,     /* struct at offset, by `sub` */
    J_CUSTOM      /* `decode` does it */
};

enum { J_REQUIRED = 1, J_EXCLUSIVE_MIN = 2 };

struct jspec;
struct jfield {
    const char *name;
    enum jtype type;
    size_t offset;
    double min, max;
    unsigned flags;
    int detail;
    const struct jspec *sub;
    /* dest points at `offset`. Adds its own faults. */
    void (*decode)(struct decode *d, json_t *value, const char *pointer, void *dest);
};

struct jspec {
    const struct jfield *fields;
    size_t n;
    /* Offset of a bool set true when the object was there; JSPEC_NO_STATED for none. */
    size_t stated;
};

#define JSPEC_NO_STATED ((size_t)-1)
#define JFIELDS(a) (a), sizeof(a) / sizeof *(a)

/* Parses with every limit of json_scan.h; the root must be an object. NULL with *err (ERR_INVALID or ERR_LIMIT) and
 * d->place, d->limit filled. `pasted` as json_scan. The caller decrefs. */
json_t *jspec_parse(struct decode *d, const void *bytes, size_t len, const char *const *pasted, struct err *err);

/* Decodes `object` into dest; faults are appended to d->faults. dest keeps what it held for absent members. */
void jspec_decode(struct decode *d, const struct jspec *spec, json_t *object, const char *pointer, void *dest);

/* pointer + "/" + name, escaped. */
void jspec_pointer(char out[JSPEC_POINTER_MAX], const char *pointer, const char *name);

/* The faults, for custom decoders. `type` is a word of the catalogs: "string", "object", ... */
void jspec_wrong_type(struct decode *d, const char *pointer, const char *type, const json_t *value);
void jspec_out_of_range(struct decode *d, const char *pointer, double min, double max, bool exclusive);
void jspec_unknown_value(struct decode *d, const char *pointer, const char *code, const char *value,
                         const char *choices);
/* Any other code; the text is "fault.<code>" of the catalogs with {value}, {other}. */
void jspec_fault(struct decode *d, const char *pointer, const char *code, const char *value, const char *other);

/* true and *ret when the value is a finite JSON number within bounds; a fault otherwise. */
bool jspec_number(struct decode *d, json_t *value, const char *pointer, double min, double max, unsigned flags,
                  double *ret);
/* A string of min..max bytes without control characters, in the arena; NULL and a fault otherwise. */
const char *jspec_string(struct decode *d, json_t *value, const char *pointer, size_t min, size_t max);

/* A field for the member of the same name; OF(member) is the offset in the struct at hand. */
/* clang-format off */
#define JFIELD_INT(name, min, max) {#name, J_INT, OF(name), (min), (max), 0, 0, NULL, NULL}
#define JFIELD_NUMBER(name, min, max, flags) {#name, J_NUMBER, OF(name), (min), (max), (flags), 0, NULL, NULL}
#define JFIELD_BOOL(name) {#name, J_BOOL, OF(name), 0, 0, 0, 0, NULL, NULL}
#define JFIELD_ENUM(name, of) {#name, J_ENUM, OF(name), 0, 0, 0, (of), NULL, NULL}
/* clang-format on */

#endif
