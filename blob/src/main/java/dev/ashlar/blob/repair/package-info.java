/** Decides which blobs are repaired, in which order and how fast. */
@NullMarked
package dev.ashlar.blob.repair;

import org.jspecify.annotations.NullMarked;
