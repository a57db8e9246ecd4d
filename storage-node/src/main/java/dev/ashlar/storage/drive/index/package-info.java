/** The index of a drive: where the bytes of each shard lie in the segments. */
@NullMarked
package dev.ashlar.storage.drive.index;

import org.jspecify.annotations.NullMarked;
