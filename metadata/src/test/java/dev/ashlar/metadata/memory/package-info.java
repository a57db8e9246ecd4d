/** Metadata in memory, for tests. */
@NullMarked
package dev.ashlar.metadata.memory;

import org.jspecify.annotations.NullMarked;
