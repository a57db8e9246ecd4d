/** Checksums of blocks and of whole objects. */
@NullMarked
package dev.ashlar.codec.checksum;

import org.jspecify.annotations.NullMarked;
