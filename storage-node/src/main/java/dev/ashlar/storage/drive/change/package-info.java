/** Changes of shards: building intents, and merging the extents that changes leave behind. */
@NullMarked
package dev.ashlar.storage.drive.change;

import org.jspecify.annotations.NullMarked;
