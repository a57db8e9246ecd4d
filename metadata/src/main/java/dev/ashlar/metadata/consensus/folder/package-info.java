/** Metadata folders: their identity and whether they take part. */
@NullMarked
package dev.ashlar.metadata.consensus.folder;

import org.jspecify.annotations.NullMarked;
