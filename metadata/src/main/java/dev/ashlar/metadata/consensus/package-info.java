/**
 * The metadata Raft groups as the rest of the module sees them. Only this package and those below
 * it use Ratis.
 */
@NullMarked
package dev.ashlar.metadata.consensus;

import org.jspecify.annotations.NullMarked;
