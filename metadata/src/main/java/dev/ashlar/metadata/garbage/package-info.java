/** Removing from drives what nothing refers to any more. */
@NullMarked
package dev.ashlar.metadata.garbage;

import org.jspecify.annotations.NullMarked;
