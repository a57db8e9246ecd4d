/** Reed-Solomon on ISA-L, hashes in C, and the loading of the native library. */
@NullMarked
package dev.ashlar.codec.isal;

import org.jspecify.annotations.NullMarked;
