/* text_columns.c — East Asian width, padding and wrapping. */
#include "api/text_columns.h"

#include <stdint.h>
#include <string.h>

static size_t next_character(const char *s, uint32_t *ret)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    uint32_t c = n == 1 ? u[0] : u[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xC0) != 0x80) { /* broken: one byte at a time */
            *ret = '?';
            return 1;
        }
        c = c << 6 | (u[i] & 0x3F);
    }
    *ret = c;
    return n;
}

static size_t columns_of(uint32_t c)
{
    static const uint32_t wide[][2] = {{0x1100, 0x115F},  {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF},
                                       {0x4E00, 0x9FFF},  {0xA000, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},  {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF},
                                       {0x20000, 0x3FFFD}};
    /* Ambiguous ones that terminals of East Asia draw wide: counted as two to be safe. */
    static const uint32_t ambiguous[] = {0x2018, 0x2019, 0x201C, 0x201D, 0x2026, 0x00D7, 0x2014, 0x2192};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1])
            return 2;
    for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++)
        if (c == ambiguous[i])
            return 2;
    return c >= 0x300 && c <= 0x36F ? 0 : 1;
}

size_t text_width(const char *s)
{
    size_t width = 0;
    while (*s) {
        uint32_t c;
        s += next_character(s, &c);
        width += columns_of(c);
    }
    return width;
}

void text_cell(struct buf *out, const char *s, size_t width, bool right)
{
    size_t used = 0, len = 0, whole = text_width(s);
    bool cut = whole > width;
    while (s[len]) {
        uint32_t c;
        size_t n = next_character(s + len, &c), w = columns_of(c);
        if (used + w > (cut ? width - 2 : width))
            break;
        used += w;
        len += n;
    }
    size_t pad = width - used - (cut ? 2 : 0);
    for (size_t i = 0; right && i < pad; i++)
        buf_addc(out, ' ');
    buf_add(out, s, len);
    if (cut)
        buf_adds(out, "..");
    for (size_t i = 0; !right && i < pad; i++)
        buf_addc(out, ' ');
}

/* Bytes of the next piece that may not be broken: a run without blanks up to a wide character, or one wide one with
 * the closing punctuation behind it. */
static size_t next_piece(const char *s, size_t *ret_width)
{
    size_t len = 0, width = 0;
    while (s[len] && s[len] != ' ') {
        uint32_t c;
        size_t n = next_character(s + len, &c), w = columns_of(c);
        bool closing = c == 0x3001 || c == 0x3002 || c == 0xFF0C || c == 0xFF1B || c == 0xFF1A || c == 0xFF09 ||
                       c == 0x201D || c == 0xFF1F;
        if (w == 2 && len && !closing)
            break;
        len += n;
        width += w;
        if (w == 2) {
            uint32_t ahead = 0;
            if (s[len])
                next_character(s + len, &ahead);
            if (!(ahead == 0x3001 || ahead == 0x3002 || ahead == 0xFF0C || ahead == 0xFF1B || ahead == 0xFF1A ||
                  ahead == 0xFF09 || ahead == 0x201D || ahead == 0xFF1F))
                break;
        }
    }
    *ret_width = width;
    return len;
}

static void new_line(struct buf *out, size_t indent, size_t *at)
{
    buf_addc(out, '\n');
    for (size_t i = 0; i < indent; i++)
        buf_addc(out, ' ');
    *at = indent;
}

void text_wrap(struct buf *out, const char *s, size_t at, size_t indent)
{
    bool blank = false;
    while (*s) {
        if (*s == ' ' || *s == '\n') {
            blank = true;
            s++;
            continue;
        }
        size_t width, n = next_piece(s, &width);
        if (at + blank + width > TEXT_COLUMNS && at > indent) {
            new_line(out, indent, &at);
        } else if (blank && at > indent) {
            buf_addc(out, ' ');
            at++;
        }
        blank = false;
        for (size_t i = 0; i < n;) { /* a piece wider than the line is cut hard */
            uint32_t c;
            size_t step = next_character(s + i, &c), w = columns_of(c);
            if (at + w > TEXT_COLUMNS)
                new_line(out, indent, &at);
            buf_add(out, s + i, step);
            at += w;
            i += step;
        }
        s += n;
    }
    buf_addc(out, '\n');
}
