/** Tests of the shard protocol's byte layout. */
@NullMarked
package dev.ashlar.protocol.wire;

import org.jspecify.annotations.NullMarked;
