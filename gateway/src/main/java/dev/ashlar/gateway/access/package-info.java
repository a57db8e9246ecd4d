/** Who sent a request, what the request needs, and whether the sender may have it. */
@NullMarked
package dev.ashlar.gateway.access;

import org.jspecify.annotations.NullMarked;
