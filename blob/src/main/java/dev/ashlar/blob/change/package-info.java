/** Changes ranges of blobs in place. */
@NullMarked
package dev.ashlar.blob.change;

import org.jspecify.annotations.NullMarked;
