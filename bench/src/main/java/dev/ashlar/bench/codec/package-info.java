/** How fast the codec and the checksums are. */
@NullMarked
package dev.ashlar.bench.codec;

import org.jspecify.annotations.NullMarked;
