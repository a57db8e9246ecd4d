/** Tests of frames on one connection. */
@NullMarked
package dev.ashlar.transport.frame;

import org.jspecify.annotations.NullMarked;
