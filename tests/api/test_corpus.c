/* test_corpus.c — the fuzzers' corpus replayed without a fuzzer: what once crashed must not again. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/client.h"

#define LLVMFuzzerTestOneInput fuzz_decode_one
#include "tests/fuzz/fuzz_decode.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_router_one
#include "tests/fuzz/fuzz_router.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_config_one
#include "tests/fuzz/fuzz_config.c"

/* Every file, and every prefix of it in a few steps: cut-off input is what fuzzers find first. */
static size_t replay(const char *folder, int (*one)(const uint8_t *, size_t))
{
    size_t n = 0;
    struct dirent *entry;
    DIR *d = opendir(folder);
    cr_assert_not_null(d, "%s", folder);
    while ((entry = readdir(d))) {
        char path[600];
        size_t len;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        char *text = read_file(path, &len);
        cr_assert_not_null(text, "%s", path);
        for (size_t step = 0; step <= 8; step++)
            one((const uint8_t *)text, len * step / 8);
        free(text);
        n++;
    }
    closedir(d);
    return n;
}

Test(corpus, decoding)
{
    cr_expect_geq(replay("tests/fuzz/corpus/decode", fuzz_decode_one), 10);
}

Test(corpus, routing, .timeout = 120)
{
    cr_expect_geq(replay("tests/fuzz/corpus/router", fuzz_router_one), 10);
}

Test(corpus, pasted_configurations)
{
    cr_expect_geq(replay("tests/fuzz/corpus/config", fuzz_config_one), 5);
    cr_expect_geq(replay("tests/data/configs", fuzz_config_one), 25);
}
