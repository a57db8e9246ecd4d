/** Fakes of the ports and the contracts that every implementation passes. */
@NullMarked
package dev.ashlar.protocol.client;

import org.jspecify.annotations.NullMarked;
