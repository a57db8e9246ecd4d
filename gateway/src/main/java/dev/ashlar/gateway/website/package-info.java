/** Websites in buckets: what is configured, and which hosts they have. */
@NullMarked
package dev.ashlar.gateway.website;

import org.jspecify.annotations.NullMarked;
