/** Erasure coding: the port, and the choice of what implements it. */
@NullMarked
package dev.ashlar.codec;

import org.jspecify.annotations.NullMarked;
