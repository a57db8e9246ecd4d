/** What operations of several subjects use. */
@NullMarked
package dev.ashlar.gateway.operation.shared;

import org.jspecify.annotations.NullMarked;
