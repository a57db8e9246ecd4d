/** Reads of a drive: the queue, its threads, and the lookup and verification of blocks. */
@NullMarked
package dev.ashlar.storage.drive.read;

import org.jspecify.annotations.NullMarked;
