/** Which drive serves each slot of each placement group. */
@NullMarked
package dev.ashlar.metadata.placement;

import org.jspecify.annotations.NullMarked;
