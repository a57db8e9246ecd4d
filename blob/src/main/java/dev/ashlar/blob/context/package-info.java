/** What all operations of the engine share: configuration, drives, memory, metrics, hedging. */
@NullMarked
package dev.ashlar.blob.context;

import org.jspecify.annotations.NullMarked;
