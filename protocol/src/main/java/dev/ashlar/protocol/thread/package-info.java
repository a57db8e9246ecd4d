/** Threads that work beside the requests. */
@NullMarked
package dev.ashlar.protocol.thread;

import org.jspecify.annotations.NullMarked;
