/** Erasure coding: the port, and the choice of its implementation. */
@NullMarked
package dev.ashlar.codec;

import org.jspecify.annotations.NullMarked;
