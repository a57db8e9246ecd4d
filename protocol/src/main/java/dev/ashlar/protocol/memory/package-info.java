/** Aligned off-heap buffers in which data travels, and budgets of bytes in flight. */
@NullMarked
package dev.ashlar.protocol.memory;

import org.jspecify.annotations.NullMarked;
