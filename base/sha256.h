/* sha256.h — FIPS 180-4 SHA-256, for checksums of migrations, ETags and plan ids. Not used for secrets. */
#ifndef SUANPAN_BASE_SHA256_H
#define SUANPAN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX 65

struct sha256 {
    uint32_t h[8];
    uint64_t total;
    unsigned char block[64];
    size_t used;
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, unsigned char out[SHA256_BYTES]);
void sha256_hex(const void *data, size_t n, char out[SHA256_HEX]);

#endif
