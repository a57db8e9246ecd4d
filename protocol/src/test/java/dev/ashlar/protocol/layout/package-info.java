@NullMarked
package dev.ashlar.protocol.layout;

import org.jspecify.annotations.NullMarked;
