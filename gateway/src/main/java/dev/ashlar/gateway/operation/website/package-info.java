/** Serves websites in buckets, and their configuration. */
@NullMarked
package dev.ashlar.gateway.operation.website;

import org.jspecify.annotations.NullMarked;
