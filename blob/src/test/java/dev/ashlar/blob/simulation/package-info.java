/** Simulations: the engine, metadata and drives in one thread, replayed from seeds. */
@NullMarked
package dev.ashlar.blob.simulation;

import org.jspecify.annotations.NullMarked;
