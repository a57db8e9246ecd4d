/** Block-aligned off-heap buffers that travel with the data. */
@NullMarked
package dev.ashlar.protocol.memory;

import org.jspecify.annotations.NullMarked;
