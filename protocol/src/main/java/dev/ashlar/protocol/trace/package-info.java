/**
 * Traces of requests through the processes: their contexts and the port to whatever keeps spans.
 */
@NullMarked
package dev.ashlar.protocol.trace;

import org.jspecify.annotations.NullMarked;
