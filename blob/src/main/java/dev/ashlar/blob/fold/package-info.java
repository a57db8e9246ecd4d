/** Makes committed changes part of their shards. */
@NullMarked
package dev.ashlar.blob.fold;

import org.jspecify.annotations.NullMarked;
