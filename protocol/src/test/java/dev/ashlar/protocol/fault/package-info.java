/** Faults of machines, for tests of any module. */
@NullMarked
package dev.ashlar.protocol.fault;

import org.jspecify.annotations.NullMarked;
