/** A process as a member of the cluster: registration, connections to drives, placement. */
@NullMarked
package dev.ashlar.server.cluster;

import org.jspecify.annotations.NullMarked;
