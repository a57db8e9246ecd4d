/** The raw file calls of a drive, behind a port so that tests can simulate the drive. */
@NullMarked
package dev.ashlar.storage.io;

import org.jspecify.annotations.NullMarked;
