/** Sweeps of the load generator over several profiles, and their charts. */
@NullMarked
package dev.ashlar.bench.curves;

import org.jspecify.annotations.NullMarked;
