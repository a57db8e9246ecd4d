/** Input and clients as nobody wishes them. */
@NullMarked
package dev.ashlar.it.hostile;

import org.jspecify.annotations.NullMarked;
