/** Ordered tables of bytes and the owners of their key and row layouts. */
@NullMarked
package dev.ashlar.metadata.table;

import org.jspecify.annotations.NullMarked;
