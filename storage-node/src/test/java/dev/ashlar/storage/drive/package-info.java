/** Tests of the drive engine, on real folders and on simulated drives. */
@NullMarked
package dev.ashlar.storage.drive;

import org.jspecify.annotations.NullMarked;
