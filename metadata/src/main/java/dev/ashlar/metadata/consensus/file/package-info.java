/** Durable and verified file operations. */
@NullMarked
package dev.ashlar.metadata.consensus.file;

import org.jspecify.annotations.NullMarked;
