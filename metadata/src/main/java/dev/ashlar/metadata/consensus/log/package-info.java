/** The Raft log and vote of a peer on its drive, checked and mended before Ratis opens them. */
@NullMarked
package dev.ashlar.metadata.consensus.log;

import org.jspecify.annotations.NullMarked;
