/** Caches with bounds. */
@NullMarked
package dev.ashlar.gateway.cache;

import org.jspecify.annotations.NullMarked;
