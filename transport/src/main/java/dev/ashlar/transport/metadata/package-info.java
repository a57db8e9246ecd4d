/** The metadata group as processes see it that hold no peer of it. */
@NullMarked
package dev.ashlar.transport.metadata;

import org.jspecify.annotations.NullMarked;
