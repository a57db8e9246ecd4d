/**
 * The ports between processes: {@code ShardStore} for drives, {@code MetadataClient} for metadata.
 */
@NullMarked
package dev.ashlar.protocol.client;

import org.jspecify.annotations.NullMarked;
