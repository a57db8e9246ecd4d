/** Frames on one connection: reading them in place, scheduling them, and noticing a lost peer. */
@NullMarked
package dev.ashlar.transport.frame;

import org.jspecify.annotations.NullMarked;
