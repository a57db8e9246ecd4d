/** Versions of objects, as clients name them. */
@NullMarked
package dev.ashlar.gateway.version;

import org.jspecify.annotations.NullMarked;
