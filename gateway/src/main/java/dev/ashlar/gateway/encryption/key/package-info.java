/** The data keys of objects, and the keys that seal them. */
@NullMarked
package dev.ashlar.gateway.encryption.key;

import org.jspecify.annotations.NullMarked;
