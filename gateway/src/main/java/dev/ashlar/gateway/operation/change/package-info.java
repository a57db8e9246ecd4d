/** Operations that change a part of an object: append and patch. */
@NullMarked
package dev.ashlar.gateway.operation.change;

import org.jspecify.annotations.NullMarked;
