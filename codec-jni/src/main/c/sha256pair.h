/* SHA-256 (FIPS 180-4) of one message, or of two abreast, with the SHA instructions of x86. */
#ifndef ASHLAR_SHA256PAIR_H
#define ASHLAR_SHA256PAIR_H

#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_MESSAGES_MAX 2
#define SHA256_FRAGMENTS_MAX 64 /* of a message */

/* Shared with dev.ashlar.codec.isal.NativeSha256, which writes it as two longs. */
struct sha256_fragment {
	uint64_t address;
	uint64_t length;
};

/* Whether this CPU has the instructions; without them the function below does nothing. */
int sha256_supported(void);

/*
 * Hashes one or two messages. The fragments of the first one come first; how many each has is in the
 * counts.
 */
void sha256_hash(const struct sha256_fragment *fragments, const int *counts, int messages,
		 unsigned char (*hashes)[SHA256_BYTES]);

#endif
