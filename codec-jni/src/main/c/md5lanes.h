/* MD5 (RFC 1321) of up to 16 messages abreast, each in its own lane of the vector registers. */
#ifndef ASHLAR_MD5LANES_H
#define ASHLAR_MD5LANES_H

#include <stdint.h>

#define MD5_LANES 16

/* Shared with dev.ashlar.codec.isal.NativeMd5, which writes it. */
struct md5_lanes {
	uint32_t state[4][MD5_LANES];
	uint64_t data[MD5_LANES]; /* addresses */
};

/* Chooses by what this CPU can do; before the other functions. */
void md5lanes_init(void);

/* Takes so many 64-byte blocks into each of the first lanes. */
void md5lanes_update(struct md5_lanes *lanes, int count, int64_t blocks);

/* The same for one message. */
void md5_update(uint32_t state[4], const unsigned char *data, int64_t blocks);

#endif
