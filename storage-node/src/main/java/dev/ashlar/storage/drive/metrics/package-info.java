/** Counters of a drive. */
@NullMarked
package dev.ashlar.storage.drive.metrics;

import org.jspecify.annotations.NullMarked;
