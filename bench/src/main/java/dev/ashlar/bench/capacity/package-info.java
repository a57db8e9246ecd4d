/** What drives hold and cost, by arithmetic and measured. */
@NullMarked
package dev.ashlar.bench.capacity;

import org.jspecify.annotations.NullMarked;
