/** What time it is. */
@NullMarked
package dev.ashlar.protocol.time;

import org.jspecify.annotations.NullMarked;
