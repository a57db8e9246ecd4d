/** Connections that carry the shard protocol's frames, for both of their ends. */
@NullMarked
package dev.ashlar.transport;

import org.jspecify.annotations.NullMarked;
