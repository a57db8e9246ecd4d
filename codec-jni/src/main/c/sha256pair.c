/*
 * The instruction for two rounds of SHA-256 needs the result of the one before, and a core could begin
 * another one earlier than that. Here two messages take turns, four rounds each, so that one's
 * instructions run while the other's wait. More than two would not fit into the sixteen registers.
 *
 * The eight words of a state lie in two registers as the instruction wants them, from the most
 * significant word on: a, b, e, f in one and c, d, g, h in the other. Two rounds make a new "abef" of
 * both, and the old "abef" is the new "cdgh", so the two swap their names with each instruction.
 */
#include "sha256pair.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define BLOCK_BYTES 64
#define END_BYTES (2 * BLOCK_BYTES) /* the last bytes and the padding behind them */
#define LENGTH_BYTES 8              /* at the end of the padding */
#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))
#define INLINE static inline __attribute__((always_inline)) WITH_SHA

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] __attribute__((aligned(BLOCK_BYTES))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

struct state {
	__m128i abef, cdgh;
};

/* A message that is being hashed. */
struct message {
	struct state state;
	const struct sha256_fragment *fragments; /* that follow */
	int count;
	const unsigned char *rest; /* of the current fragment */
	uint64_t rest_bytes;
	uint64_t length; /* of what was read so far */
	int ended;
	const unsigned char *run; /* the next whole blocks in a row */
	uint64_t run_blocks;
	unsigned char end[END_BYTES]; /* a block from several fragments, or the end */
};

INLINE __m128i load_words(const unsigned char *data)
{
	const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)data), big_endian);
}

/* The next four words of the schedule from the sixteen before. */
INLINE __m128i schedule(__m128i w0, __m128i w4, __m128i w8, __m128i w12)
{
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w4), _mm_alignr_epi8(w12, w8, 4));
	return _mm_sha256msg2_epu32(sum, w12);
}

INLINE void four_rounds(struct state *state, __m128i words, int round)
{
	__m128i sum = _mm_add_epi32(words, *(const __m128i *)(constants + round));
	state->cdgh = _mm_sha256rnds2_epu32(state->cdgh, state->abef, sum);
	sum = _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2));
	state->abef = _mm_sha256rnds2_epu32(state->abef, state->cdgh, sum);
}

/* For each of the messages abreast. */
#define EACH(statement) \
	_Pragma("GCC unroll 2") for (int i = 0; i < abreast; i++) \
		statement;

#define FIRST_ROUNDS(round, word) \
	EACH(w[i][word] = load_words(data[i] + 4 * (round))) \
	EACH(four_rounds(&s[i], w[i][word], round))

#define MORE_ROUNDS(round, a, b, c, d) \
	EACH(w[i][a] = schedule(w[i][a], w[i][b], w[i][c], w[i][d])) \
	EACH(four_rounds(&s[i], w[i][a], round))

INLINE void update(struct message *const *messages, const int abreast, uint64_t blocks)
{
	struct state s[SHA256_MESSAGES_MAX];
	const unsigned char *data[SHA256_MESSAGES_MAX];
	EACH(s[i] = messages[i]->state)
	EACH(data[i] = messages[i]->run)
	for (uint64_t block = 0; block < blocks; block++) {
		struct state before[SHA256_MESSAGES_MAX];
		__m128i w[SHA256_MESSAGES_MAX][4];
		EACH(before[i] = s[i])
		FIRST_ROUNDS(0, 0)
		FIRST_ROUNDS(4, 1)
		FIRST_ROUNDS(8, 2)
		FIRST_ROUNDS(12, 3)
		MORE_ROUNDS(16, 0, 1, 2, 3)
		MORE_ROUNDS(20, 1, 2, 3, 0)
		MORE_ROUNDS(24, 2, 3, 0, 1)
		MORE_ROUNDS(28, 3, 0, 1, 2)
		MORE_ROUNDS(32, 0, 1, 2, 3)
		MORE_ROUNDS(36, 1, 2, 3, 0)
		MORE_ROUNDS(40, 2, 3, 0, 1)
		MORE_ROUNDS(44, 3, 0, 1, 2)
		MORE_ROUNDS(48, 0, 1, 2, 3)
		MORE_ROUNDS(52, 1, 2, 3, 0)
		MORE_ROUNDS(56, 2, 3, 0, 1)
		MORE_ROUNDS(60, 3, 0, 1, 2)
		EACH(s[i].abef = _mm_add_epi32(s[i].abef, before[i].abef))
		EACH(s[i].cdgh = _mm_add_epi32(s[i].cdgh, before[i].cdgh))
		EACH(data[i] += BLOCK_BYTES)
	}
	EACH(messages[i]->state = s[i])
	EACH(messages[i]->run = data[i])
	EACH(messages[i]->run_blocks -= blocks)
}

WITH_SHA static void update_one(struct message *message, uint64_t blocks)
{
	update(&message, 1, blocks);
}

WITH_SHA static void update_pair(struct message *first, struct message *second, uint64_t blocks)
{
	struct message *messages[SHA256_MESSAGES_MAX] = {first, second};
	update(messages, SHA256_MESSAGES_MAX, blocks);
}

/* Makes the rest of the current fragment one that has bytes; false at the end of the message. */
static int find_bytes(struct message *message)
{
	while (message->rest_bytes == 0 && message->count > 0) {
		message->rest = (const unsigned char *)(uintptr_t)message->fragments->address;
		message->rest_bytes = message->fragments->length;
		message->length += message->rest_bytes;
		message->fragments++;
		message->count--;
	}
	return message->rest_bytes > 0;
}

/* Gathers a block from several fragments; how many bytes there were for it. */
static uint64_t gather(struct message *message)
{
	uint64_t got = 0;
	while (got < BLOCK_BYTES && find_bytes(message)) {
		uint64_t bytes = BLOCK_BYTES - got;
		if (bytes > message->rest_bytes)
			bytes = message->rest_bytes;
		__builtin_memcpy(message->end + got, message->rest, bytes);
		message->rest += bytes;
		message->rest_bytes -= bytes;
		got += bytes;
	}
	return got;
}

/* The message's last bytes are followed by a one bit, zeros, and the number of its bits. */
static uint64_t pad(struct message *message, uint64_t got)
{
	uint64_t padded = got + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : END_BYTES;
	uint64_t bits = __builtin_bswap64(8 * message->length);
	message->end[got] = 0x80;
	__builtin_memset(message->end + got + 1, 0, padded - LENGTH_BYTES - got - 1);
	__builtin_memcpy(message->end + padded - LENGTH_BYTES, &bits, LENGTH_BYTES);
	return padded / BLOCK_BYTES;
}

/* Whether there are blocks to be hashed: of a fragment, from several ones, or of the end. */
static int find_run(struct message *message)
{
	if (message->run_blocks > 0)
		return 1;
	if (message->ended)
		return 0;
	if (find_bytes(message) && message->rest_bytes >= BLOCK_BYTES) {
		message->run = message->rest;
		message->run_blocks = message->rest_bytes / BLOCK_BYTES;
		message->rest += message->run_blocks * BLOCK_BYTES;
		message->rest_bytes %= BLOCK_BYTES;
		return 1;
	}
	uint64_t got = gather(message);
	message->ended = got < BLOCK_BYTES;
	message->run = message->end;
	message->run_blocks = message->ended ? pad(message, got) : 1;
	return 1;
}

/* The first 32 bits of the fractional parts of the square roots of the first eight primes. */
static void begin(struct message *message, const struct sha256_fragment *fragments, int count)
{
	message->state.abef = _mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c);
	message->state.cdgh = _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19);
	message->fragments = fragments;
	message->count = count;
	message->rest_bytes = 0;
	message->length = 0;
	message->ended = 0;
	message->run_blocks = 0;
}

static void end(const struct message *message, unsigned char *hash)
{
	uint32_t abef[4], cdgh[4]; /* f, e, b, a and h, g, d, c: the least significant first */
	__builtin_memcpy(abef, &message->state.abef, sizeof(abef));
	__builtin_memcpy(cdgh, &message->state.cdgh, sizeof(cdgh));
	uint32_t words[8] = {abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]};
	for (int i = 0; i < 8; i++)
		words[i] = __builtin_bswap32(words[i]);
	__builtin_memcpy(hash, words, sizeof(words));
}

int sha256_supported(void)
{
	/* By cpuid, as older compilers do not know the feature by name. */
	unsigned int eax, ebx, ecx, edx;
	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_SHA) != 0 &&
	       __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3");
}

void sha256_hash(const struct sha256_fragment *fragments, const int *counts, int messages,
		 unsigned char (*hashes)[SHA256_BYTES])
{
	struct message m[SHA256_MESSAGES_MAX];
	for (int i = 0; i < messages; i++) {
		begin(&m[i], fragments, counts[i]);
		fragments += counts[i];
	}
	while (messages == SHA256_MESSAGES_MAX && find_run(&m[0]) && find_run(&m[1])) {
		uint64_t both = m[0].run_blocks < m[1].run_blocks ? m[0].run_blocks : m[1].run_blocks;
		update_pair(&m[0], &m[1], both);
	}
	for (int i = 0; i < messages; i++) {
		while (find_run(&m[i]))
			update_one(&m[i], m[i].run_blocks);
		end(&m[i], hashes[i]);
	}
}

#else

int sha256_supported(void)
{
	return 0;
}

void sha256_hash(const struct sha256_fragment *fragments, const int *counts, int messages,
		 unsigned char (*hashes)[SHA256_BYTES])
{
	(void)fragments;
	(void)counts;
	(void)messages;
	(void)hashes;
}

#endif
