/** Operations on one object, and DeleteObjects. */
@NullMarked
package dev.ashlar.gateway.operation.object;

import org.jspecify.annotations.NullMarked;
