/** Writes bytes that are stored again in another profile. */
@NullMarked
package dev.ashlar.blob.move;

import org.jspecify.annotations.NullMarked;
