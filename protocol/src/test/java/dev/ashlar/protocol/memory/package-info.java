@NullMarked
package dev.ashlar.protocol.memory;

import org.jspecify.annotations.NullMarked;
