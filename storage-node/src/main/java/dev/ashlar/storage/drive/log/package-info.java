/** The log of a drive: queueing, writing and recovering batches, and their effect on the index. */
@NullMarked
package dev.ashlar.storage.drive.log;

import org.jspecify.annotations.NullMarked;
