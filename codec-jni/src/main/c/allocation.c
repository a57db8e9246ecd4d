#define _GNU_SOURCE
#include "allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Not posix_fallocate: where the file system refuses, that writes to every block. */
static bool allocate(int fd, int64_t bytes)
{
	int result;
	do
		result = fallocate(fd, 0, 0, bytes);
	while (result != 0 && errno == EINTR);
	return result == 0;
}

bool allocate_file(const char *path, int64_t bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	bool done = allocate(fd, bytes) && fsync(fd) == 0;
	return close(fd) == 0 && done;
}
