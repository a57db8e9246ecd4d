/** Operations on policies, ACLs, ownership and public access blocks. */
@NullMarked
package dev.ashlar.gateway.operation.access;

import org.jspecify.annotations.NullMarked;
