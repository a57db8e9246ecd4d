/** The lifecycle rules of buckets: what they say, how they are stored, and what is due by them. */
@NullMarked
package dev.ashlar.gateway.lifecycle;

import org.jspecify.annotations.NullMarked;
