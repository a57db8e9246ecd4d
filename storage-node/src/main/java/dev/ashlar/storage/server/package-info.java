/** The server that exposes this process's drives over the shard protocol. */
@NullMarked
package dev.ashlar.storage.server;

import org.jspecify.annotations.NullMarked;
