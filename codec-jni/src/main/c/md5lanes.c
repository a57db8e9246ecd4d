/*
 * MD5 cannot be computed faster for one message, because every step needs the result of the one before:
 * most of a core waits. Here 16 messages share the steps, one in each lane of a vector. The vectors are
 * the compiler's own, so that it makes of them whatever the target has: one register of AVX-512, two of
 * AVX2, four of SSE2 or Neon.
 */
#include "md5lanes.h"

#define WORDS 16
#define BLOCK_BYTES 64

/* The three-way functions in the forms with the shortest way from the newest state to the result. */
#define F(x, y, z) ((((y) ^ (z)) & (x)) ^ (z))
#define G(x, y, z) (((x) & (z)) + ((y) & ~(z)))
#define H(x, y, z) ((x) ^ ((y) ^ (z)))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))

#define STEP(function, a, b, c, d, word, turn, constant) \
	a += w[word] + (constant); \
	a += function(b, c, d); \
	a = ((a << (turn)) | (a >> (32 - (turn)))) + b;

#define STEPS \
	STEP(F, a, b, c, d,  0,  7, 0xd76aa478u) \
	STEP(F, d, a, b, c,  1, 12, 0xe8c7b756u) \
	STEP(F, c, d, a, b,  2, 17, 0x242070dbu) \
	STEP(F, b, c, d, a,  3, 22, 0xc1bdceeeu) \
	STEP(F, a, b, c, d,  4,  7, 0xf57c0fafu) \
	STEP(F, d, a, b, c,  5, 12, 0x4787c62au) \
	STEP(F, c, d, a, b,  6, 17, 0xa8304613u) \
	STEP(F, b, c, d, a,  7, 22, 0xfd469501u) \
	STEP(F, a, b, c, d,  8,  7, 0x698098d8u) \
	STEP(F, d, a, b, c,  9, 12, 0x8b44f7afu) \
	STEP(F, c, d, a, b, 10, 17, 0xffff5bb1u) \
	STEP(F, b, c, d, a, 11, 22, 0x895cd7beu) \
	STEP(F, a, b, c, d, 12,  7, 0x6b901122u) \
	STEP(F, d, a, b, c, 13, 12, 0xfd987193u) \
	STEP(F, c, d, a, b, 14, 17, 0xa679438eu) \
	STEP(F, b, c, d, a, 15, 22, 0x49b40821u) \
	STEP(G, a, b, c, d,  1,  5, 0xf61e2562u) \
	STEP(G, d, a, b, c,  6,  9, 0xc040b340u) \
	STEP(G, c, d, a, b, 11, 14, 0x265e5a51u) \
	STEP(G, b, c, d, a,  0, 20, 0xe9b6c7aau) \
	STEP(G, a, b, c, d,  5,  5, 0xd62f105du) \
	STEP(G, d, a, b, c, 10,  9, 0x02441453u) \
	STEP(G, c, d, a, b, 15, 14, 0xd8a1e681u) \
	STEP(G, b, c, d, a,  4, 20, 0xe7d3fbc8u) \
	STEP(G, a, b, c, d,  9,  5, 0x21e1cde6u) \
	STEP(G, d, a, b, c, 14,  9, 0xc33707d6u) \
	STEP(G, c, d, a, b,  3, 14, 0xf4d50d87u) \
	STEP(G, b, c, d, a,  8, 20, 0x455a14edu) \
	STEP(G, a, b, c, d, 13,  5, 0xa9e3e905u) \
	STEP(G, d, a, b, c,  2,  9, 0xfcefa3f8u) \
	STEP(G, c, d, a, b,  7, 14, 0x676f02d9u) \
	STEP(G, b, c, d, a, 12, 20, 0x8d2a4c8au) \
	STEP(H, a, b, c, d,  5,  4, 0xfffa3942u) \
	STEP(H, d, a, b, c,  8, 11, 0x8771f681u) \
	STEP(H, c, d, a, b, 11, 16, 0x6d9d6122u) \
	STEP(H, b, c, d, a, 14, 23, 0xfde5380cu) \
	STEP(H, a, b, c, d,  1,  4, 0xa4beea44u) \
	STEP(H, d, a, b, c,  4, 11, 0x4bdecfa9u) \
	STEP(H, c, d, a, b,  7, 16, 0xf6bb4b60u) \
	STEP(H, b, c, d, a, 10, 23, 0xbebfbc70u) \
	STEP(H, a, b, c, d, 13,  4, 0x289b7ec6u) \
	STEP(H, d, a, b, c,  0, 11, 0xeaa127fau) \
	STEP(H, c, d, a, b,  3, 16, 0xd4ef3085u) \
	STEP(H, b, c, d, a,  6, 23, 0x04881d05u) \
	STEP(H, a, b, c, d,  9,  4, 0xd9d4d039u) \
	STEP(H, d, a, b, c, 12, 11, 0xe6db99e5u) \
	STEP(H, c, d, a, b, 15, 16, 0x1fa27cf8u) \
	STEP(H, b, c, d, a,  2, 23, 0xc4ac5665u) \
	STEP(I, a, b, c, d,  0,  6, 0xf4292244u) \
	STEP(I, d, a, b, c,  7, 10, 0x432aff97u) \
	STEP(I, c, d, a, b, 14, 15, 0xab9423a7u) \
	STEP(I, b, c, d, a,  5, 21, 0xfc93a039u) \
	STEP(I, a, b, c, d, 12,  6, 0x655b59c3u) \
	STEP(I, d, a, b, c,  3, 10, 0x8f0ccc92u) \
	STEP(I, c, d, a, b, 10, 15, 0xffeff47du) \
	STEP(I, b, c, d, a,  1, 21, 0x85845dd1u) \
	STEP(I, a, b, c, d,  8,  6, 0x6fa87e4fu) \
	STEP(I, d, a, b, c, 15, 10, 0xfe2ce6e0u) \
	STEP(I, c, d, a, b,  6, 15, 0xa3014314u) \
	STEP(I, b, c, d, a, 13, 21, 0x4e0811a1u) \
	STEP(I, a, b, c, d,  4,  6, 0xf7537e82u) \
	STEP(I, d, a, b, c, 11, 10, 0xbd3af235u) \
	STEP(I, c, d, a, b,  2, 15, 0x2ad7d2bbu) \
	STEP(I, b, c, d, a,  9, 21, 0xeb86d391u)
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint32_t lanes __attribute__((vector_size(4 * MD5_LANES)));

void md5_update(uint32_t state[4], const unsigned char *data, int64_t blocks)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	for (; blocks > 0; blocks--, data += BLOCK_BYTES) {
		uint32_t w[WORDS], a0 = a, b0 = b, c0 = c, d0 = d;
		__builtin_memcpy(w, data, sizeof(w));
		STEPS
		a += a0, b += b0, c += c0, d += d0;
	}
	state[0] = a, state[1] = b, state[2] = c, state[3] = d;
}

static inline __attribute__((always_inline)) four load(const unsigned char *from)
{
	four words;
	__builtin_memcpy(&words, from, sizeof(words));
	return words;
}

/* Four words of four lanes: from lane after lane to word after word. */
static inline __attribute__((always_inline)) void transpose(
	const unsigned char *const *from, int offset, uint32_t (*to)[MD5_LANES])
{
	four r0 = load(from[0] + offset), r1 = load(from[1] + offset);
	four r2 = load(from[2] + offset), r3 = load(from[3] + offset);
	four low01 = __builtin_shuffle(r0, r1, (four){0, 4, 1, 5});
	four low23 = __builtin_shuffle(r2, r3, (four){0, 4, 1, 5});
	four high01 = __builtin_shuffle(r0, r1, (four){2, 6, 3, 7});
	four high23 = __builtin_shuffle(r2, r3, (four){2, 6, 3, 7});
	*(four *)to[0] = __builtin_shuffle(low01, low23, (four){0, 1, 4, 5});
	*(four *)to[1] = __builtin_shuffle(low01, low23, (four){2, 3, 6, 7});
	*(four *)to[2] = __builtin_shuffle(high01, high23, (four){0, 1, 4, 5});
	*(four *)to[3] = __builtin_shuffle(high01, high23, (four){2, 3, 6, 7});
}

static inline __attribute__((always_inline)) void transpose_block(
	const unsigned char *const *data, int64_t offset, uint32_t (*to)[MD5_LANES])
{
	for (int lane = 0; lane < MD5_LANES; lane += 4)
		for (int word = 0; word < WORDS; word += 4)
			transpose(data + lane, offset + 4 * word, (uint32_t (*)[MD5_LANES])&to[word][lane]);
}

static inline __attribute__((always_inline)) void update(
	lanes state[4], const unsigned char *const *data, int64_t blocks)
{
	/* One block is transposed while the one before is hashed: its words are stored long before they
	   are loaded as wider vectors. */
	uint32_t words[2][WORDS][MD5_LANES] __attribute__((aligned(BLOCK_BYTES)));
	lanes a = state[0], b = state[1], c = state[2], d = state[3];
	transpose_block(data, 0, words[0]);
	for (int64_t block = 0; block < blocks; block++) {
		const lanes *w = (const lanes *)words[block & 1];
		lanes a0 = a, b0 = b, c0 = c, d0 = d;
		if (block + 1 < blocks)
			transpose_block(data, (block + 1) * BLOCK_BYTES, words[(block + 1) & 1]);
		STEPS
		a += a0, b += b0, c += c0, d += d0;
	}
	state[0] = a, state[1] = b, state[2] = c, state[3] = d;
}

typedef void update_function(lanes state[4], const unsigned char *const *data, int64_t blocks);

static void update_baseline(lanes state[4], const unsigned char *const *data, int64_t blocks)
{
	update(state, data, blocks);
}

/* Below so many messages one after the other is faster. */
static int count_min = 4;
static update_function *chosen = update_baseline;

#if defined(__x86_64__)

__attribute__((target("avx2")))
static void update_avx2(lanes state[4], const unsigned char *const *data, int64_t blocks)
{
	update(state, data, blocks);
}

__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")))
static void update_avx512(lanes state[4], const unsigned char *const *data, int64_t blocks)
{
	update(state, data, blocks);
}

void md5lanes_init(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
		chosen = update_avx512;
		count_min = 2;
	} else if (__builtin_cpu_supports("avx2")) {
		chosen = update_avx2;
		count_min = 3;
	}
}

#else

void md5lanes_init(void)
{
}

#endif

static void one_by_one(struct md5_lanes *messages, int count, int64_t blocks)
{
	for (int lane = 0; lane < count; lane++) {
		uint32_t state[4];
		for (int word = 0; word < 4; word++)
			state[word] = messages->state[word][lane];
		md5_update(state, (const unsigned char *)(uintptr_t)messages->data[lane], blocks);
		for (int word = 0; word < 4; word++)
			messages->state[word][lane] = state[word];
	}
}

void md5lanes_update(struct md5_lanes *messages, int count, int64_t blocks)
{
	if (blocks == 0 || count < count_min) {
		one_by_one(messages, count, blocks);
		return;
	}
	lanes state[4];
	const unsigned char *data[MD5_LANES];
	/* Lanes to spare hash the first message again; nobody looks at them. */
	for (int lane = 0; lane < MD5_LANES; lane++)
		data[lane] = (const unsigned char *)(uintptr_t)messages->data[lane < count ? lane : 0];
	__builtin_memcpy(state, messages->state, sizeof(state));
	chosen(state, data, blocks);
	__builtin_memcpy(messages->state, state, sizeof(state));
}
