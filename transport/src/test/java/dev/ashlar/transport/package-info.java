/** Tests of frames on their way. */
@NullMarked
package dev.ashlar.transport;

import org.jspecify.annotations.NullMarked;
