@NullMarked
package dev.ashlar.transport.tls;

import org.jspecify.annotations.NullMarked;
