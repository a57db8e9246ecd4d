@NullMarked
package dev.ashlar.transport.call;

import org.jspecify.annotations.NullMarked;
