/** The live tables of a peer, and the checkpoints and second copies they are rebuilt from. */
@NullMarked
package dev.ashlar.metadata.consensus.checkpoint;

import org.jspecify.annotations.NullMarked;
