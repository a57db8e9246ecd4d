/** Servers that the benchmarks start, and what processes use. */
@NullMarked
package dev.ashlar.bench.process;

import org.jspecify.annotations.NullMarked;
