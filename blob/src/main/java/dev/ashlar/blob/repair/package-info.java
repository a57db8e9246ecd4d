/** Rebuilds missing shards and moves shards to other drives. */
@NullMarked
package dev.ashlar.blob.repair;

import org.jspecify.annotations.NullMarked;
