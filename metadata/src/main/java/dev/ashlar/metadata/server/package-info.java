/** The metadata role: what the rest of the program opens. */
@NullMarked
package dev.ashlar.metadata.server;

import org.jspecify.annotations.NullMarked;
