/** The client of the shard protocol: drives in other processes. */
@NullMarked
package dev.ashlar.transport.client;

import org.jspecify.annotations.NullMarked;
