@NullMarked
package dev.ashlar.protocol.trace;

import org.jspecify.annotations.NullMarked;
