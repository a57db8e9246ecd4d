/** Frames of encrypted objects: how plain bytes become stored bytes, and how they come back. */
@NullMarked
package dev.ashlar.gateway.encryption.frame;

import org.jspecify.annotations.NullMarked;
