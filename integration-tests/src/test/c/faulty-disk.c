/*
 * A disk that lies: serves one file, the image of a disk, as a FUSE file system, for a loop device.
 *
 *   faulty-disk BACKING_FILE MOUNT_POINT
 *
 * MOUNT_POINT/image has the bytes of BACKING_FILE. Commands come as lines on standard input; each is
 * answered with one line on standard output. The end of the input unmounts and ends the process.
 *
 *   seed N             seed of all random choices
 *   healthy            no faults from now on; what was lost before stays lost
 *   lost P FROM        a write at FROM bytes or later is acknowledged and not done, P times in 1000
 *   misdirected P FROM a write at FROM or later is done at the place of an earlier write, P in 1000
 *   torn FROM          of the next write of several blocks at FROM or later a part is done; that
 *                      write and all later ones are acknowledged, and the later ones are dropped
 *   counts             answers with the number of writes that were done, lost, misdirected, torn
 *
 * Speaks the protocol of /dev/fuse itself (linux/fuse.h), in one thread: requests come one by one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOT = 1, IMAGE = 2, BLOCK = 4096, MAX_WRITE = 1 << 20, PLACES = 512 };

enum mode { HEALTHY, LOST, MISDIRECTED, TORN, CUT };

static int device, backing;
static off_t image_bytes;
static enum mode mode = HEALTHY;
static unsigned per_thousand;
static uint64_t first_byte;
static uint64_t random_state = 1;
static unsigned long done, lost, misdirected, torn;

/* Offsets of recent writes: a misdirected write hits data that matters. */
static uint64_t places[PLACES];
static unsigned place_count;

static char request[MAX_WRITE + 65536] __attribute__((aligned(BLOCK)));
static char content[MAX_WRITE] __attribute__((aligned(BLOCK)));

static uint64_t next_random(void) {
  random_state += 0x9e3779b97f4a7c15u;
  uint64_t z = random_state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void die(const char *what) {
  fprintf(stderr, "faulty-disk: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void answer(uint64_t unique, int error, const void *body, size_t size) {
  struct fuse_out_header header = {sizeof header + size, error, unique};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)body, size}};
  /* ENOENT: the request was interrupted meanwhile. */
  if (writev(device, parts, size ? 2 : 1) < 0 && errno != ENOENT) {
    die("answer");
  }
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = BLOCK};
  attr.mode = node == ROOT ? S_IFDIR | 0700 : S_IFREG | 0600;
  attr.size = node == ROOT ? 0 : image_bytes;
  attr.blocks = attr.size / 512;
  return attr;
}

static void init(uint64_t unique, const struct fuse_init_in *in) {
  struct fuse_init_out out = {
      .major = FUSE_KERNEL_VERSION,
      .minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor : FUSE_KERNEL_MINOR_VERSION,
      .max_readahead = in->max_readahead,
      .flags = in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES),
      .max_background = 64,
      .congestion_threshold = 48,
      .max_write = MAX_WRITE,
      .time_gran = 1,
      .max_pages = MAX_WRITE / BLOCK,
  };
  answer(unique, 0, &out, sizeof out);
}

static void lookup(uint64_t unique, const char *name) {
  if (strcmp(name, "image") != 0) {
    answer(unique, -ENOENT, NULL, 0);
    return;
  }
  struct fuse_entry_out out = {.nodeid = IMAGE, .entry_valid = 3600, .attr_valid = 3600};
  out.attr = attributes(IMAGE);
  answer(unique, 0, &out, sizeof out);
}

static void get_attributes(uint64_t unique, uint64_t node) {
  struct fuse_attr_out out = {.attr_valid = 3600, .attr = attributes(node)};
  answer(unique, 0, &out, sizeof out);
}

static void open_file(uint64_t unique) {
  struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO};
  answer(unique, 0, &out, sizeof out);
}

static void read_image(uint64_t unique, const struct fuse_read_in *in) {
  size_t size = in->size < sizeof content ? in->size : sizeof content;
  ssize_t got = pread(backing, content, size, in->offset);
  answer(unique, got < 0 ? -errno : 0, content, got < 0 ? 0 : got);
}

static void write_whole(const char *bytes, size_t size, uint64_t offset) {
  while (size > 0) {
    ssize_t written = pwrite(backing, bytes, size, offset);
    if (written <= 0) {
      die("write of the backing file");
    }
    bytes += written;
    size -= written;
    offset += written;
  }
}

static bool hits(uint64_t offset) {
  return offset >= first_byte && next_random() % 1000 < per_thousand;
}

static void write_faulty(const char *bytes, uint32_t size, uint64_t offset) {
  if (mode == CUT || (mode == LOST && hits(offset))) {
    lost++;
  } else if (mode == MISDIRECTED && place_count > 0 && hits(offset)) {
    unsigned known = place_count < PLACES ? place_count : PLACES;
    uint64_t elsewhere = places[next_random() % known];
    if (elsewhere + size <= (uint64_t)image_bytes) {
      write_whole(bytes, size, elsewhere);
    }
    misdirected++;
  } else if (mode == TORN && offset >= first_byte && size >= 2 * BLOCK) {
    /* A disk writes its sectors in any order: the head or the tail is there. */
    uint32_t part = (1 + next_random() % (size / 512 - 1)) * 512;
    if (next_random() % 2) {
      write_whole(bytes, part, offset);
    } else {
      write_whole(bytes + part, size - part, offset + part);
    }
    torn++;
    mode = CUT;
  } else {
    write_whole(bytes, size, offset);
    done++;
    if (offset >= first_byte) {
      places[place_count++ % PLACES] = offset;
    }
  }
}

static void write_image(uint64_t unique, const struct fuse_write_in *in) {
  write_faulty((const char *)(in + 1), in->size, in->offset);
  struct fuse_write_out out = {.size = in->size};
  answer(unique, 0, &out, sizeof out);
}

static void status(uint64_t unique) {
  struct fuse_statfs_out out = {.st = {.bsize = BLOCK, .namelen = 255, .frsize = BLOCK}};
  answer(unique, 0, &out, sizeof out);
}

/* False when the file system is gone. */
static bool serve(void) {
  ssize_t got = read(device, request, sizeof request);
  if (got < 0) {
    return errno != ENODEV;
  }
  const struct fuse_in_header *header = (const void *)request;
  const void *body = header + 1;
  switch (header->opcode) {
    case FUSE_INIT: init(header->unique, body); break;
    case FUSE_LOOKUP: lookup(header->unique, body); break;
    case FUSE_GETATTR: get_attributes(header->unique, header->nodeid); break;
    case FUSE_OPEN:
    case FUSE_OPENDIR: open_file(header->unique); break;
    case FUSE_READ: read_image(header->unique, body); break;
    case FUSE_WRITE: write_image(header->unique, body); break;
    case FUSE_STATFS: status(header->unique); break;
    case FUSE_FSYNC: /* what the backing file has survives: the machine stays up */
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR: answer(header->unique, 0, NULL, 0); break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: break;
    case FUSE_DESTROY: return false;
    default: answer(header->unique, -ENOSYS, NULL, 0);
  }
  return true;
}

static bool set_mode(const char *line) {
  unsigned long from, per = 0, seed;
  if (sscanf(line, "seed %lu", &seed) == 1) {
    random_state = seed;
    return true;
  }
  if (strcmp(line, "healthy") == 0) {
    mode = HEALTHY;
    return true;
  }
  if (sscanf(line, "lost %lu %lu", &per, &from) == 2) {
    mode = LOST;
  } else if (sscanf(line, "misdirected %lu %lu", &per, &from) == 2) {
    mode = MISDIRECTED;
  } else if (sscanf(line, "torn %lu", &from) == 1) {
    mode = TORN;
  } else {
    return false;
  }
  per_thousand = per;
  first_byte = from;
  return true;
}

static void obey(const char *line) {
  if (strcmp(line, "counts") == 0) {
    printf("%lu %lu %lu %lu\n", done, lost, misdirected, torn);
  } else {
    puts(set_mode(line) ? "ok" : "unknown command");
  }
  fflush(stdout);
}

/* False at the end of the input. */
static bool read_commands(void) {
  static char line[256];
  static size_t length;
  ssize_t got = read(STDIN_FILENO, line + length, sizeof line - 1 - length);
  if (got <= 0) {
    return false;
  }
  length += got;
  char *end;
  while ((end = memchr(line, '\n', length)) != NULL) {
    *end = 0;
    obey(line);
    length -= end + 1 - line;
    memmove(line, end + 1, length);
  }
  return length < sizeof line - 1;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fputs("usage: faulty-disk BACKING_FILE MOUNT_POINT\n", stderr);
    return 2;
  }
  const char *mount_point = arguments[2];
  struct stat stat;
  backing = open(arguments[1], O_RDWR | O_CLOEXEC);
  if (backing < 0 || fstat(backing, &stat) < 0) {
    die(arguments[1]);
  }
  image_bytes = stat.st_size;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (device < 0) {
    die("/dev/fuse");
  }
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40700,user_id=0,group_id=0,allow_other", device);
  if (mount("faulty-disk", mount_point, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
    die("mount");
  }
  puts("mounted");
  fflush(stdout);
  struct pollfd polled[] = {{.fd = device, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
  while (poll(polled, 2, -1) > 0 || errno == EINTR) {
    if ((polled[1].revents && !read_commands()) || (polled[0].revents && !serve())) {
      break;
    }
  }
  umount2(mount_point, MNT_DETACH);
  return 0;
}
