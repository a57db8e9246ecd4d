/** The segment files of a drive and the format of what they hold: batches of records. */
@NullMarked
package dev.ashlar.storage.drive.segment;

import org.jspecify.annotations.NullMarked;
