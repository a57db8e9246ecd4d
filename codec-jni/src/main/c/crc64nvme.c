/*
 * In the reflected order bit i of a word is the coefficient of x^(63-i). A carry-less product of two
 * words then comes out divided by x, which the exponents below make up for: a 128-bit block B = low *
 * x^64 + high, moved D bits towards the front of the message, is
 *     low * x^(D+64) + high * x^D   mod P,
 * so the constants are x^(D+63) and x^(D-1). Four blocks run abreast (D = 512) to keep the multiplier
 * busy, then they are folded into one (D = 128). What is left of it, 16 bytes whose CRC equals that of
 * everything before, goes through the table.
 */
#include "crc64nvme.h"

#define POLYNOMIAL 0x9a6c9329ac4bc9b5ull
#define SLICES 8

static uint64_t table[SLICES][256];

static uint64_t times_x(uint64_t a)
{
	return (a >> 1) ^ (a & 1 ? POLYNOMIAL : 0);
}

static uint64_t load(const unsigned char *data)
{
	uint64_t word;
	__builtin_memcpy(&word, data, sizeof(word));
	return word;
}

static uint64_t by_table(uint64_t state, const unsigned char *data, size_t length)
{
	for (; length >= SLICES; length -= SLICES, data += SLICES) {
		uint64_t word = state ^ load(data);
		state = 0;
		for (int i = 0; i < SLICES; i++)
			state ^= table[SLICES - 1 - i][(word >> (8 * i)) & 0xff];
	}
	for (; length > 0; length--)
		state = table[0][(state ^ *data++) & 0xff] ^ (state >> 8);
	return state;
}

static void init_table(void)
{
	for (int byte = 0; byte < 256; byte++) {
		uint64_t crc = byte;
		for (int bit = 0; bit < 8; bit++)
			crc = times_x(crc);
		table[0][byte] = crc;
	}
	for (int slice = 1; slice < SLICES; slice++)
		for (int byte = 0; byte < 256; byte++) {
			uint64_t crc = table[slice - 1][byte];
			table[slice][byte] = table[0][crc & 0xff] ^ (crc >> 8);
		}
}

#if defined(__x86_64__)

#include <immintrin.h>

#define ABREAST 4
#define BLOCK sizeof(__m128i)

static uint64_t far_low, far_high, near_low, near_high;

static uint64_t power_of_x(int exponent)
{
	uint64_t power = 1ull << 63;
	while (exponent-- > 0)
		power = times_x(power);
	return power;
}

void crc64nvme_init(void)
{
	init_table();
	far_low = power_of_x(8 * BLOCK * ABREAST + 63);
	far_high = power_of_x(8 * BLOCK * ABREAST - 1);
	near_low = power_of_x(8 * BLOCK + 63);
	near_high = power_of_x(8 * BLOCK - 1);
}

int crc64nvme_supported(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

__attribute__((target("pclmul,sse4.1")))
static inline __m128i fold(__m128i block, __m128i constants, __m128i next)
{
	__m128i low = _mm_clmulepi64_si128(block, constants, 0x00);
	__m128i high = _mm_clmulepi64_si128(block, constants, 0x11);
	return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("pclmul,sse4.1")))
static uint64_t by_folding(uint64_t state, const unsigned char *data, size_t length)
{
	const __m128i *from = (const __m128i *)data;
	const __m128i far = _mm_set_epi64x((long long)far_high, (long long)far_low);
	const __m128i near = _mm_set_epi64x((long long)near_high, (long long)near_low);
	__m128i a = _mm_xor_si128(_mm_loadu_si128(from), _mm_set_epi64x(0, (long long)state));
	__m128i b = _mm_loadu_si128(from + 1);
	__m128i c = _mm_loadu_si128(from + 2);
	__m128i d = _mm_loadu_si128(from + 3);
	for (from += ABREAST, length -= BLOCK * ABREAST; length >= BLOCK * ABREAST;
	     from += ABREAST, length -= BLOCK * ABREAST) {
		a = fold(a, far, _mm_loadu_si128(from));
		b = fold(b, far, _mm_loadu_si128(from + 1));
		c = fold(c, far, _mm_loadu_si128(from + 2));
		d = fold(d, far, _mm_loadu_si128(from + 3));
	}
	a = fold(fold(fold(a, near, b), near, c), near, d);
	for (; length >= BLOCK; from++, length -= BLOCK)
		a = fold(a, near, _mm_loadu_si128(from));
	unsigned char rest[BLOCK];
	_mm_storeu_si128((__m128i *)rest, a);
	return by_table(by_table(0, rest, BLOCK), (const unsigned char *)from, length);
}

uint64_t crc64nvme_update(uint64_t state, const unsigned char *data, size_t length)
{
	if (length < BLOCK * ABREAST)
		return by_table(state, data, length);
	return by_folding(state, data, length);
}

#else

void crc64nvme_init(void)
{
	init_table();
}

int crc64nvme_supported(void)
{
	return 0;
}

uint64_t crc64nvme_update(uint64_t state, const unsigned char *data, size_t length)
{
	return by_table(state, data, length);
}

#endif
