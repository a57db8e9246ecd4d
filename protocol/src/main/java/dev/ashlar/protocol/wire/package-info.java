/** The shard protocol's messages, byte for byte: docs/reference/formats-wire.md draws them. */
@NullMarked
package dev.ashlar.protocol.wire;

import org.jspecify.annotations.NullMarked;
