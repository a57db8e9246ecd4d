/** Test helpers for connections. */
@NullMarked
package dev.ashlar.transport;

import org.jspecify.annotations.NullMarked;
