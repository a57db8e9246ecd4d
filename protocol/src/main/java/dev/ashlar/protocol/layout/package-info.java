/** Offset arithmetic of blobs, stripes, strips and shards: pure functions. */
@NullMarked
package dev.ashlar.protocol.layout;

import org.jspecify.annotations.NullMarked;
