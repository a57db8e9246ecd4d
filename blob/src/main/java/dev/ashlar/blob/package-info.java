/** Ports of the erasure-coding engine, as the gateway sees it. */
@NullMarked
package dev.ashlar.blob;

import org.jspecify.annotations.NullMarked;
