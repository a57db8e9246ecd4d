/*
 * Preloaded into a process of a test, it shifts the time of day that Java sees: by the seconds that
 * stand at the beginning of the file that ASHLAR_TEST_CLOCK names, as a signed 64-bit number in the
 * machine's byte order, which may change at any time. Clocks that count since some moment, as the
 * monotonic one, go on as they are: so it is when an operator sets the clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int clock_function(clockid_t, struct timespec *);

static clock_function *machine_clock;
static const volatile int64_t *shift_seconds;

__attribute__((constructor)) static void prepare(void) {
  machine_clock = (clock_function *) dlsym(RTLD_NEXT, "clock_gettime");
  const char *name = getenv("ASHLAR_TEST_CLOCK");
  int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) {
    shift_seconds = mapped;
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  /* Other libraries may ask before this one is prepared. */
  int result = machine_clock == NULL ? (int) syscall(SYS_clock_gettime, clock, now)
                                     : machine_clock(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME && shift_seconds != NULL) {
    now->tv_sec += *shift_seconds;
  }
  return result;
}
