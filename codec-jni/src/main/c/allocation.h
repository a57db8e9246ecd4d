#ifndef ALLOCATION_H
#define ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes an existing file at least so long, allocates its space without writing it, and syncs it. May
 * block for as long as the file system takes. False after a failure of any kind.
 */
bool allocate_file(const char *path, int64_t bytes);

#endif
