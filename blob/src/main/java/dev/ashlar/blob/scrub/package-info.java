/** Finds damaged and missing shards. */
@NullMarked
package dev.ashlar.blob.scrub;

import org.jspecify.annotations.NullMarked;
