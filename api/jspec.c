/* jspec.c — the one walk over a JSON object by its table. */
#include "api/jspec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/enum_alias.h"
#include "api/message.h"
#include "api/utf8.h"
#include "base/buf.h"

/* What kind of syntax error it is, for the catalogs ("text.syntax_<kind>"). */
static const char *syntax_kind(int code)
{
    static const struct {
        int code;
        const char *kind;
    } kinds[] = {{json_error_premature_end_of_input, "premature_end"},
                 {json_error_end_of_input_expected, "trailing_data"},
                 {json_error_duplicate_key, "duplicate_member"},
                 {json_error_numeric_overflow, "number_overflow"},
                 {json_error_invalid_utf8, "not_utf8"},
                 {json_error_null_character, "null_character"},
                 {json_error_null_byte_in_key, "null_character"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].code == code)
            return kinds[i].kind;
    return "invalid";
}

json_t *jspec_parse(struct decode *d, const void *bytes, size_t len, const char *const *pasted, struct err *err)
{
    static const char *const limits[] = {NULL, "depth", "nodes", "string"};
    enum json_scan_result scan = json_scan(bytes, len, pasted, &d->place);
    if (scan != JSON_SCAN_OK) {
        d->limit = limits[scan];
        err_set(err, ERR_LIMIT, "JSON %s limit", limits[scan]);
        return NULL;
    }
    json_error_t why;
    json_t *root = json_loadb(len ? bytes : "", len, JSON_REJECT_DUPLICATES, &why);
    if (root)
        return root;
    d->place = (struct json_place){.line = why.line > 0 ? why.line : 1,
                                   .column = why.column > 0 ? why.column : 1,
                                   .position = why.position > 0 ? (size_t)why.position : 0};
    d->syntax = syntax_kind((int)json_error_code(&why));
    if (json_error_code(&why) == json_error_out_of_memory)
        err_set(err, ERR_NOMEM, "parsing JSON");
    else
        err_set(err, ERR_INVALID, "%.140s", why.text);
    return NULL;
}

void jspec_pointer(char out[JSPEC_POINTER_MAX], const char *pointer, const char *name)
{
    size_t n = strnlen(pointer, 100);
    memcpy(out, pointer, n);
    out[n++] = '/';
    for (; *name && n < JSPEC_POINTER_MAX - 3; name++) {
        if (*name == '~' || *name == '/') {
            out[n++] = '~';
            out[n++] = *name == '~' ? '0' : '1';
        } else {
            out[n++] = *name;
        }
    }
    /* never end inside a UTF-8 sequence */
    while (*name && n && ((unsigned char)out[n - 1] & 0x80)) {
        n--;
        if (((unsigned char)out[n] & 0xC0) == 0xC0)
            break;
    }
    out[n] = '\0';
}

/* ---- faults ------------------------------------------------------------------------------------------------ */

static void add_fault(struct decode *d, const char *pointer, const char *code, const struct message_arg *args, size_t n)
{
    const char *template = message_find(d->language, "fault.", code);
    struct buf text;
    buf_init(&text, 4096);
    message_render(&text, template ? template : code, args, n);
    const char *words = buf_failed(&text) || !text.data ? code : text.data;
    fault_add(d->faults, pointer, code, "%.*s", (int)utf8_cut(words, sizeof d->faults->items[0].detail - 1), words);
    buf_done(&text);
}

static void add_fault_limits(struct decode *d, const char *pointer, const char *code, double min, double max)
{
    char low[48], high[48];
    message_number(low, min);
    message_number(high, max);
    size_t at = d->faults->n;
    add_fault(d, pointer, code, (struct message_arg[]){{"min", low}, {"max", high}}, 2);
    if (at < d->faults->n) {
        d->limits[at].has = true;
        d->limits[at].min = min;
        d->limits[at].max = max;
    }
}

void jspec_wrong_type(struct decode *d, const char *pointer, const char *type, const json_t *value)
{
    static const char *const names[] = {"object", "array", "string", "integer", "real", "boolean", "boolean", "null"};
    const char *got = names[json_typeof(value)];
    const char *want_text = message_find(d->language, "text.json_", type);
    const char *got_text = message_find(d->language, "text.json_", got);
    add_fault(d, pointer, "wrong_type",
              (struct message_arg[]){{"expected", want_text ? want_text : type}, {"got", got_text ? got_text : got}},
              2);
}

void jspec_out_of_range(struct decode *d, const char *pointer, double min, double max, bool exclusive)
{
    add_fault_limits(d, pointer, exclusive ? "out_of_range_open" : "out_of_range", min, max);
    if (exclusive && d->faults->n) { /* one code for callers, two sentences for people */
        struct fault *last = &d->faults->items[d->faults->n - 1];
        if (strcmp(last->code, "out_of_range_open") == 0)
            snprintf(last->code, sizeof last->code, "out_of_range");
    }
}

void jspec_unknown_value(struct decode *d, const char *pointer, const char *code, const char *value,
                         const char *choices)
{
    char shown[64];
    snprintf(shown, sizeof shown, "%.*s", (int)utf8_cut(value, 48), value);
    add_fault(d, pointer, code, (struct message_arg[]){{"value", shown}, {"choices", choices}}, 2);
}

void jspec_fault(struct decode *d, const char *pointer, const char *code, const char *value, const char *other)
{
    add_fault(d, pointer, code, (struct message_arg[]){{"value", value ? value : ""}, {"other", other ? other : ""}},
              2);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

bool jspec_number(struct decode *d, json_t *value, const char *pointer, double min, double max, unsigned flags,
                  double *ret)
{
    if (!json_is_number(value)) {
        jspec_wrong_type(d, pointer, "number", value);
        return false;
    }
    double v = json_number_value(value);
    bool exclusive = (flags & J_EXCLUSIVE_MIN) != 0;
    if (!(exclusive ? v > min : v >= min) || !(v <= max)) {
        jspec_out_of_range(d, pointer, min, max, exclusive);
        return false;
    }
    *ret = v;
    return true;
}

const char *jspec_string(struct decode *d, json_t *value, const char *pointer, size_t min, size_t max)
{
    if (!json_is_string(value)) {
        jspec_wrong_type(d, pointer, "string", value);
        return NULL;
    }
    const char *s = json_string_value(value);
    size_t len = json_string_length(value);
    if (len < min || len > max) {
        add_fault_limits(d, pointer, "length", (double)min, (double)max);
        return NULL;
    }
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)s[i] < 0x20 || (unsigned char)s[i] == 0x7F) {
            jspec_fault(d, pointer, "control_character", NULL, NULL);
            return NULL;
        }
    return arena_strndup(d->arena, s, len);
}

static void decode_int(struct decode *d, const struct jfield *f, json_t *v, const char *pointer, void *dest)
{
    if (!json_is_integer(v)) {
        jspec_wrong_type(d, pointer, "integer", v);
        return;
    }
    json_int_t n = json_integer_value(v);
    if ((double)n < f->min || (double)n > f->max)
        jspec_out_of_range(d, pointer, f->min, f->max, false);
    else
        *(int *)dest = (int)n;
}

static void decode_amount(struct decode *d, const struct jfield *f, json_t *v, const char *pointer, void *dest)
{
    double n;
    if (!jspec_number(d, v, pointer, f->min, f->max, f->flags, &n))
        return;
    if (n != floor(n))
        jspec_fault(d, pointer, "not_whole", NULL, NULL);
    else
        *(double *)dest = n;
}

static void decode_enum(struct decode *d, const struct jfield *f, json_t *v, const char *pointer, void *dest)
{
    if (!json_is_string(v)) {
        jspec_wrong_type(d, pointer, "string", v);
        return;
    }
    enum workload_enum e = (enum workload_enum)f->detail;
    int n;
    if (enum_alias_parse(e, json_string_value(v), &n))
        jspec_unknown_value(d, pointer, "unknown_value", json_string_value(v), workload_enum_choices(e));
    else
        *(int *)dest = n;
}

static void decode_date(struct decode *d, json_t *v, const char *pointer, void *dest)
{
    date_t n;
    if (!json_is_string(v))
        jspec_wrong_type(d, pointer, "date", v);
    else if (date_parse(json_string_value(v), &n))
        jspec_fault(d, pointer, "not_a_date", NULL, NULL);
    else
        *(date_t *)dest = n;
}

static void decode_field(struct decode *d, const struct jfield *f, json_t *v, const char *pointer, void *dest)
{
    switch (f->type) {
    case J_STRING: {
        const char *s = jspec_string(d, v, pointer, (size_t)f->min, (size_t)f->max);
        if (s)
            *(const char **)dest = s;
        break;
    }
    case J_BOOL:
    case J_TRI:
        if (!json_is_boolean(v))
            jspec_wrong_type(d, pointer, "boolean", v);
        else if (f->type == J_BOOL)
            *(bool *)dest = json_is_true(v);
        else
            *(enum tri *)dest = json_is_true(v) ? TRI_YES : TRI_NO;
        break;
    case J_INT:
        decode_int(d, f, v, pointer, dest);
        break;
    case J_NUMBER:
        jspec_number(d, v, pointer, f->min, f->max, f->flags, dest);
        break;
    case J_AMOUNT:
        decode_amount(d, f, v, pointer, dest);
        break;
    case J_ENUM:
        decode_enum(d, f, v, pointer, dest);
        break;
    case J_DATE:
        decode_date(d, v, pointer, dest);
        break;
    case J_OBJECT:
        jspec_decode(d, f->sub, v, pointer, dest);
        break;
    case J_CUSTOM:
        f->decode(d, v, pointer, dest);
        break;
    }
}

/* The member of the table nearest to a misspelt one, for the refusal; NULL when none is near. */
static const char *nearest_name(const struct jspec *spec, const char *name)
{
    const char *best = NULL;
    size_t best_common = 2;
    for (size_t i = 0; i < spec->n; i++) {
        size_t common = 0;
        while (name[common] && name[common] == spec->fields[i].name[common])
            common++;
        if (common > best_common) {
            best_common = common;
            best = spec->fields[i].name;
        }
    }
    return best;
}

static void refuse_unknown(struct decode *d, const struct jspec *spec, json_t *object, const char *pointer)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        size_t i = 0;
        while (i < spec->n && strcmp(spec->fields[i].name, name) != 0)
            i++;
        if (i < spec->n)
            continue;
        char at[JSPEC_POINTER_MAX];
        jspec_pointer(at, pointer, name);
        const char *near = nearest_name(spec, name);
        if (near)
            jspec_fault(d, at, "unknown_field_near", near, NULL);
        else
            jspec_fault(d, at, "unknown_field", NULL, NULL);
        struct fault *last = d->faults->n ? &d->faults->items[d->faults->n - 1] : NULL;
        if (last && strcmp(last->code, "unknown_field_near") == 0)
            snprintf(last->code, sizeof last->code, "unknown_field");
    }
}

void jspec_decode(struct decode *d, const struct jspec *spec, json_t *object, const char *pointer, void *dest)
{
    if (!json_is_object(object)) {
        jspec_wrong_type(d, pointer, "object", object);
        return;
    }
    if (spec->stated != JSPEC_NO_STATED)
        *(bool *)((char *)dest + spec->stated) = true;
    refuse_unknown(d, spec, object, pointer);
    for (size_t i = 0; i < spec->n; i++) {
        const struct jfield *f = &spec->fields[i];
        json_t *v = json_object_get(object, f->name);
        const bool stated = v && !json_is_null(v);
        if (!stated && (f->flags & J_REQUIRED) == 0)
            continue; /* most members of most tables */
        char at[JSPEC_POINTER_MAX];
        jspec_pointer(at, pointer, f->name);
        if (stated)
            decode_field(d, f, v, at, (char *)dest + f->offset);
        else
            jspec_fault(d, at, "required", NULL, NULL);
    }
}
