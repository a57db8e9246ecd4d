/** A long load, and whether the server grows under it. */
@NullMarked
package dev.ashlar.bench.soak;

import org.jspecify.annotations.NullMarked;
