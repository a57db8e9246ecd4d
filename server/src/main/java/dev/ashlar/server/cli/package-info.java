/** The commands of the executable: servers, the local cluster, the rehearsal. */
@NullMarked
package dev.ashlar.server.cli;

import org.jspecify.annotations.NullMarked;
