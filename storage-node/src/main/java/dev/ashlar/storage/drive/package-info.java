/** The on-disk engine of one drive: a segment log, its index, recovery and compaction. */
@NullMarked
package dev.ashlar.storage.drive;

import org.jspecify.annotations.NullMarked;
