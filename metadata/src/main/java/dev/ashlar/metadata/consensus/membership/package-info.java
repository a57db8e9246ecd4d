/** Which peers form the Raft group: admission, changes and the version they agree on. */
@NullMarked
package dev.ashlar.metadata.consensus.membership;

import org.jspecify.annotations.NullMarked;
