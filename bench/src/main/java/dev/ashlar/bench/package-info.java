/** The command line of the benchmarks. */
@NullMarked
package dev.ashlar.bench;

import org.jspecify.annotations.NullMarked;
