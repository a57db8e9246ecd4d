/** Writes new blobs. */
@NullMarked
package dev.ashlar.blob.write;

import org.jspecify.annotations.NullMarked;
