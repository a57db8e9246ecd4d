/*
 * Times the installed libjerasure, called as object stores call it for its "cauchy_good" technique:
 * a smart schedule made once for encoding, and one made anew for each decoding.
 *
 *   jerasure k m w packet-bytes shard-bytes iterations encode|decode patterns erasures
 *
 * For decoding, standard input has so many patterns of so many lost shards each; the iterations go
 * through them in turn. Every pattern is decoded and compared first, outside the time. Prints
 * seconds of CPU time.
 */
#define _GNU_SOURCE
#include <jerasure.h>
#include <jerasure/cauchy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096 };

struct code {
  int k, m, w, packet;
  long shard;
  int *bitmatrix;
  int **schedule;
  char **data, **parity;
};

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* Of this thread: waiting for a busy processor does not count. */
static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static char *pages(long bytes) {
  char *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
  if (!memory) fail("no memory");
  return memory;
}

static char *shard_of(const struct code *code, int index) {
  return index < code->k ? code->data[index] : code->parity[index - code->k];
}

static void make_shards(struct code *code) {
  long stride = (code->shard + PAGE - 1) / PAGE * PAGE;
  char *slab = pages((code->k + code->m) * stride);
  code->data = calloc(code->k, sizeof(char *));
  code->parity = calloc(code->m, sizeof(char *));
  srandom(1);
  for (long i = 0; i < (code->k + code->m) * stride; i++) slab[i] = (char) random();
  for (int i = 0; i < code->k; i++) code->data[i] = slab + i * stride;
  for (int i = 0; i < code->m; i++) code->parity[i] = slab + (code->k + i) * stride;
}

static void encode(struct code *code) {
  jerasure_schedule_encode(code->k, code->m, code->w, code->schedule, code->data, code->parity,
                           code->shard, code->packet);
}

static void decode(struct code *code, int *lost) {
  if (lost[0] >= 0 &&
      jerasure_schedule_decode_lazy(code->k, code->m, code->w, code->bitmatrix, lost, code->data,
                                    code->parity, code->shard, code->packet, 1) < 0)
    fail("jerasure does not decode");
}

/* Patterns behind each other, each ended by -1. */
static int *read_patterns(int patterns, int erasures) {
  int *all = calloc((size_t) patterns * (erasures + 1), sizeof(int));
  for (int p = 0; p < patterns; p++) {
    int *pattern = all + p * (erasures + 1);
    for (int e = 0; e < erasures; e++)
      if (scanf("%d", &pattern[e]) != 1) fail("too few patterns");
    pattern[erasures] = -1;
  }
  return all;
}

static void check_pattern(struct code *code, int *lost) {
  char *saved[code->k + code->m];
  for (int e = 0; lost[e] >= 0; e++) {
    saved[e] = pages(code->shard);
    memcpy(saved[e], shard_of(code, lost[e]), code->shard);
    memset(shard_of(code, lost[e]), 0, code->shard);
  }
  decode(code, lost);
  for (int e = 0; lost[e] >= 0; e++) {
    if (memcmp(saved[e], shard_of(code, lost[e]), code->shard)) fail("jerasure decodes wrongly");
    free(saved[e]);
  }
}

int main(int argc, char **argv) {
  if (argc != 10) fail("wrong arguments");
  struct code code = {
      .k = atoi(argv[1]), .m = atoi(argv[2]), .w = atoi(argv[3]), .packet = atoi(argv[4]),
      .shard = atol(argv[5])};
  int iterations = atoi(argv[6]);
  int is_decode = !strcmp(argv[7], "decode");
  int patterns = atoi(argv[8]), erasures = atoi(argv[9]);

  int *matrix = cauchy_good_general_coding_matrix(code.k, code.m, code.w);
  if (!matrix) fail("jerasure has no such code");
  code.bitmatrix = jerasure_matrix_to_bitmatrix(code.k, code.m, code.w, matrix);
  code.schedule = jerasure_smart_bitmatrix_to_schedule(code.k, code.m, code.w, code.bitmatrix);
  make_shards(&code);
  encode(&code);

  int *lost = is_decode ? read_patterns(patterns, erasures) : NULL;
  if (is_decode)
    for (int p = 0; p < patterns; p++) check_pattern(&code, lost + p * (erasures + 1));
  else
    for (int i = 0; i < iterations && i < 64; i++) encode(&code);

  double begin = cpu_seconds();
  for (int i = 0; i < iterations; i++) {
    if (is_decode)
      decode(&code, lost + i % patterns * (erasures + 1));
    else
      encode(&code);
  }
  printf("%.9f\n", cpu_seconds() - begin);
  return 0;
}
