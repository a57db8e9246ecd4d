/** The erasure-coding engine: turns bytes into durable shards and shards into bytes. */
@NullMarked
package dev.ashlar.blob;

import org.jspecify.annotations.NullMarked;
