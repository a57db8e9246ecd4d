/** Digests and checksums: their names in S3, their computation, their combination. */
@NullMarked
package dev.ashlar.gateway.checksum;

import org.jspecify.annotations.NullMarked;
