/** How Raft messages reach other peers, in this process and in others. */
@NullMarked
package dev.ashlar.metadata.consensus.network;

import org.jspecify.annotations.NullMarked;
