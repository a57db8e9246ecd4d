/** Reed-Solomon on ISA-L, and the loading of the native library. */
@NullMarked
package dev.ashlar.codec.isal;

import org.jspecify.annotations.NullMarked;
