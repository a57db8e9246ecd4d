/** The ports through which processes meet. */
@NullMarked
package dev.ashlar.protocol.client;

import org.jspecify.annotations.NullMarked;
