/** Reed-Solomon in plain Java: the fallback, and the oracle the native code is tested against. */
@NullMarked
package dev.ashlar.codec.portable;

import org.jspecify.annotations.NullMarked;
