/* test_writers.c — JSON, CSV and terminal text at the level of single values. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/csv_write.h"
#include "api/json_write.h"
#include "api/message.h"
#include "api/message_template.h"
#include "api/text_columns.h"
#include "api/utf8.h"

Test(writers, numbers_are_short_and_never_invalid)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0, "0"},
                {1, "1"},
                {19.99, "19.99"},
                {0.1, "0.1"},
                {1e9, "1000000000"},
                {2.5e-7, "2.5e-07"},
                {1e300, "1e+300"},
                {-3.25, "-3.25"},
                {1.0 / 3, "0.333333333333333"},
                {NAN, "null"},
                {INFINITY, "null"},
                {-INFINITY, "null"},
                {123456789012345678.0, "1.23456789012346e+17"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        jw_number_text(text, rows[i].value);
        cr_expect_str_eq(text, rows[i].text);
    }
}

Test(writers, strings_are_escaped)
{
    struct buf b;
    buf_init(&b, 4096);
    struct jw w = {.out = &b};
    jw_object(&w, NULL);
    jw_string(&w, "a", "line\nquote\" back\\ tab\t bell\x07 中文");
    jw_null(&w, "n");
    jw_array(&w, "l");
    jw_int(&w, NULL, -5);
    jw_bool(&w, NULL, true);
    jw_end_array(&w);
    jw_money(&w, "m", -12345, "CNY");
    jw_price(&w, "p", 12340000, "USD");
    jw_date(&w, "d", DATE_NONE);
    jw_end_object(&w);
    cr_expect_str_eq(b.data,
                     "{\"a\":\"line\\nquote\\\" back\\\\ tab\\t bell\\u0007 中文\",\"n\":null,\"l\":[-5,true],"
                     "\"m\":{\"amount\":\"-123.45\",\"currency\":\"CNY\"},\"p\":{\"amount\":\"12.34\",\"currency\":"
                     "\"USD\"},\"d\":null}");
    buf_done(&b);
}

/* Wherever in a text the odd byte stands, and however long the text. */
Test(writers, odd_bytes_are_found_at_every_place)
{
    static const char *const odd[][2] = {{"\"", "\\\""},      {"\\", "\\\\"}, {"\n", "\\n"}, {"\x1f", "\\u001f"},
                                         {"\x7f", "\x7f"},    {" ", " "},     {"中", "中"},  {"é", "é"},
                                         {"\xff", "\\ufffd"}, {"!", "!"},     {"[", "["},    {"😀", "😀"}};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        for (int before = 0; before < 20; before++)
            for (int behind = 0; behind < 20; behind++) {
                char in[64], want[80];
                struct buf b;
                buf_init(&b, 200);
                snprintf(in, sizeof in, "%.*s%s%.*s", before, "abcdefghijklmnopqrst", odd[k][0], behind,
                         "ABCDEFGHIJKLMNOPQRST");
                snprintf(want, sizeof want, "\"%.*s%s%.*s\"", before, "abcdefghijklmnopqrst", odd[k][1], behind,
                         "ABCDEFGHIJKLMNOPQRST");
                jw_string(&(struct jw){.out = &b}, NULL, in);
                cr_assert_str_eq(b.data, want);
                buf_done(&b);
            }
}

Test(writers, a_value_can_be_written_again)
{
    struct buf b;
    buf_init(&b, 4096);
    struct jw w = {.out = &b};
    jw_object(&w, NULL);
    jw_key(&w, "first");
    size_t from = b.len;
    jw_array(&w, NULL);
    jw_int(&w, NULL, 7);
    jw_end_array(&w);
    size_t to = b.len;
    jw_key(&w, "second");
    jw_again(&w, from, to);
    jw_bool(&w, "third", false);
    jw_end_object(&w);
    cr_expect_str_eq(b.data, "{\"first\":[7],\"second\":[7],\"third\":false}");
    buf_done(&b);
}

Test(writers, half_a_character_never_gets_out)
{
    static const char *const broken[] = {"a\xE5\x90", "\xFF", "\xC0\xAF", "\xED\xA0\x80", "ok\xF4\x90\x80\x80"};
    for (size_t i = 0; i < 5; i++) {
        struct buf b;
        buf_init(&b, 200);
        jw_string(&(struct jw){.out = &b}, NULL, broken[i]);
        json_t *v = json_loadb(b.data, b.len, JSON_DECODE_ANY, NULL);
        cr_expect_not_null(v, "%s", b.data);
        json_decref(v);
        buf_done(&b);
    }
    cr_expect_eq(utf8_cut("合肥", 4), 3);
    cr_expect_eq(utf8_cut("合肥", 6), 6);
    cr_expect_eq(utf8_cut("abc", 2), 2);
}

/* Quotes do not protect from formulas; an apostrophe does. Numbers never get one: negative amounts stay numbers. */
Test(writers, csv_text_is_no_formula)
{
    static const struct {
        const char *in, *out;
    } rows[] = {{"=1+1", "\"'=1+1\""},
                {"+1", "\"'+1\""},
                {"-1", "\"'-1\""},
                {"@A1", "\"'@A1\""},
                {"\tx", "\"'\tx\""},
                {"＝1", "\"'＝1\""},
                {"＋1", "\"'＋1\""},
                {"plain", "plain"},
                {"a,b", "\"a,b\""},
                {"say \"hi\"", "\"say \"\"hi\"\"\""},
                {"a\nb", "\"a\nb\""},
                {"", ""},
                {"A100-80G", "A100-80G"},
                {" lead", "\" lead\""},
                {"=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        buf_init(&b, 4096);
        struct csv c = {.out = &b};
        csv_text(&c, rows[i].in);
        csv_number(&c, -1.5);
        csv_money(&c, -250);
        csv_number(&c, NAN);
        csv_end_row(&c);
        char want[200];
        snprintf(want, sizeof want, "%s,-1.5,-2.50,\r\n", rows[i].out);
        cr_expect_str_eq(b.data, want);
        buf_done(&b);
    }
}

Test(writers, figures_for_people)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},           {1234567, "1,234,567"},
                {61.3, "61.3"},     {0.0421, "0.042"},
                {1234.56, "1,235"}, {-1234567.8, "-1,234,568"},
                {999, "999"},       {3.14159, "3.14"},
                {250.04, "250"},    {1e18, "1e+18"},
                {NAN, "-"},         {0.5, "0.5"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[48];
        message_number(text, rows[i].value);
        cr_expect_str_eq(text, rows[i].text);
    }
}

Test(writers, money_and_shares_for_people)
{
    static const struct {
        enum language language;
        int64_t minor;
        const char *currency, *text;
    } money[] = {{LANG_ZH_CN, 123456789, "CNY", "1,234,567.89 元"},
                 {LANG_ZH_CN, -5, "CNY", "-0.05 元"},
                 {LANG_ZH_CN, 100000, "USD", "USD 1,000.00"},
                 {LANG_EN, 99999, "CNY", "CNY 999.99"},
                 {LANG_EN, -123400, "EUR", "EUR -1,234.00"},
                 {LANG_EN, 0, "CNY", "CNY 0.00"},
                 {LANG_EN, INT64_MIN, "CNY", "CNY -92,233,720,368,547,758.08"}};
    static const struct {
        double share;
        const char *text;
    } shares[] = {{0, "0%"},         {0.025, "2.5%"}, {0.05, "5%"},     {0.61, "61%"},    {1.5, "150%"},
                  {0.0999, "10%"},   {-0.3, "-30%"},  {0.125, "12%"},   {0.0125, "1.2%"}, {NAN, "-"},
                  {12.345, "1234%"}, {1e-9, "0%"},    {-0.001, "-0.1%"}};
    char text[MESSAGE_FIGURE_MAX];
    for (size_t i = 0; i < sizeof money / sizeof *money; i++) {
        message_money(text, money[i].language, money[i].minor, money[i].currency);
        cr_expect_str_eq(text, money[i].text);
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        message_percent(text, shares[i].share);
        cr_expect_str_eq(text, shares[i].text);
    }
}

/* A blank between two Chinese characters is closed, on whichever side of the seam it stands; one beside Latin text or
 * figures stays. */
Test(writers, no_blank_between_chinese_characters)
{
    static const struct {
        const char *template, *value, *text;
    } rows[] = {{"改用 {a} 训练", "单机", "改用单机训练"},
                {"改用 {a} 训练", "A100", "改用 A100 训练"},
                {"改用 {a} 训练", "合肥 高新 A100 卡", "改用合肥高新 A100 卡训练"},
                {"{a} 张 {a}", "8", "8 张 8"},
                {"{a} {a}", "卡", "卡卡"},
                {"改用{a} 训练", "", "改用训练"},
                {"卡 \"{a}\" 用", "卡", "卡 \"卡\" 用"},
                {"{b} 卡", "卡", "{b} 卡"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct template *t = template_compile("key", rows[i].template, true);
        for (int json = 0; json < 2; json++) {
            struct buf b;
            buf_init(&b, 400);
            struct words w = {.out = &b, .json = json, .close_gaps = true};
            buf_addc(&b, '"');
            for (size_t k = 0; k < t->n; k++)
                if (t->pieces[k].kind == PIECE_PLACE && strcmp(t->pieces[k].text, "{a}") == 0)
                    words_value(&w, rows[i].value);
                else
                    words_piece(&w, &t->pieces[k]);
            buf_addc(&b, '"');
            json_t *said = json ? json_loads(b.data, JSON_DECODE_ANY, NULL) : json_stringn(b.data + 1, b.len - 2);
            cr_expect_str_eq(json_string_value(said), rows[i].text);
            json_decref(said);
            buf_done(&b);
        }
        free(t);
    }
}

Test(writers, templates_take_their_arguments)
{
    static const struct {
        const char *template, *text;
    } rows[] = {{"{a} and {b}", "1 and two"},
                {"no placeholder", "no placeholder"},
                {"{c} stays", "{c} stays"},
                {"{a", "{a"},
                {"}{a}{", "}1{"},
                {"{a} day(s), {b} card(s) in node(s)", "1 day, two cards in nodes"},
                {"word(s) before {a}", "word(s) before 1"},
                {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;
        buf_init(&b, 200);
        message_render(&b, rows[i].template, (struct message_arg[]){{"a", "1"}, {"b", "two"}}, 2);
        cr_expect_str_eq(b.data ? b.data : "", rows[i].text);
        buf_done(&b);
    }
}

Test(writers, east_asian_text_takes_two_columns)
{
    cr_expect_eq(text_width("abc"), 3);
    cr_expect_eq(text_width("合肥"), 4);
    cr_expect_eq(text_width("8 x A100，包月"), 14);
    struct buf b;
    buf_init(&b, 4096);
    text_cell(&b, "合肥高新区", 8, false);
    text_cell(&b, "ab", 4, true);
    cr_expect_str_eq(b.data, "合肥高..  ab");
    buf_done(&b);
    buf_init(&b, 4096);
    text_wrap(&b,
              "每卡约需 72.81 GB，可用 85.03 "
              "GB，余量很小，有爆显存的风险；占用最大的是激活值，可以先减小微批次、再打开重计算。",
              4, 4);
    for (char *line = b.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        cr_expect_leq(text_width(line), 80, "%s", line);
        cr_expect_neq(strncmp(line + strspn(line, " "), "，", 3), 0, "a line begins with a comma");
    }
    buf_done(&b);
    buf_init(&b, 4096);
    char lengthy[201];
    memset(lengthy, 'x', 200);
    lengthy[200] = '\0';
    text_wrap(&b, lengthy, 0, 2);
    cr_expect_eq(strcspn(b.data, "\n"), 80);
    buf_done(&b);
}
