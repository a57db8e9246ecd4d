/** Options that several commands have, with one name and one meaning. */
@NullMarked
package dev.ashlar.bench.options;

import org.jspecify.annotations.NullMarked;
