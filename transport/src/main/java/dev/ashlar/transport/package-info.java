/** Addresses of processes, and the event loops that move bytes between them. */
@NullMarked
package dev.ashlar.transport;

import org.jspecify.annotations.NullMarked;
