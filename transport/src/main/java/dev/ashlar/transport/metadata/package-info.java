/** The client of metadata peers in other processes. */
@NullMarked
package dev.ashlar.transport.metadata;

import org.jspecify.annotations.NullMarked;
