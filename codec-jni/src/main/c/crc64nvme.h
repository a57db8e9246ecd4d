/* CRC64NVME (polynomial ad93d23594c93659, reflected) by carry-less multiplication. */
#ifndef CRC64NVME_H
#define CRC64NVME_H

#include <stddef.h>
#include <stdint.h>

/* Computes the constants; call once before the others. */
void crc64nvme_init(void);

/* Whether this CPU has the instructions. */
int crc64nvme_supported(void);

/* Continues a CRC that is kept inverted between calls: start from all ones. */
uint64_t crc64nvme_update(uint64_t state, const unsigned char *data, size_t length);

#endif
