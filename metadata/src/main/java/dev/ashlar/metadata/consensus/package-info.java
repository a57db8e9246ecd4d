/** The Raft group; the only package that knows Ratis. */
@NullMarked
package dev.ashlar.metadata.consensus;

import org.jspecify.annotations.NullMarked;
