/** Identifiers and values that cross a process boundary. */
@NullMarked
package dev.ashlar.protocol.model;

import org.jspecify.annotations.NullMarked;
