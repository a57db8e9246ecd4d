/** Drives of other processes, reached over the shard protocol. */
@NullMarked
package dev.ashlar.transport.client;

import org.jspecify.annotations.NullMarked;
