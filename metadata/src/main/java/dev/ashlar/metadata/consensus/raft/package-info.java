/** One Raft peer: its Ratis server, state machine, commit queue and durability. */
@NullMarked
package dev.ashlar.metadata.consensus.raft;

import org.jspecify.annotations.NullMarked;
