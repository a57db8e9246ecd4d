/** What the benchmarks keep: results in folders, averages, progress. */
@NullMarked
package dev.ashlar.bench.result;

import org.jspecify.annotations.NullMarked;
