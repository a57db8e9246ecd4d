/** Compaction: moving live records out of mostly dead segments and freeing the segments. */
@NullMarked
package dev.ashlar.storage.drive.compact;

import org.jspecify.annotations.NullMarked;
