/** Reads blobs, and rebuilds what drives cannot deliver or deliver late. */
@NullMarked
package dev.ashlar.blob.read;

import org.jspecify.annotations.NullMarked;
