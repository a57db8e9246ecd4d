/** Operations on buckets, and the listing of objects. */
@NullMarked
package dev.ashlar.gateway.operation.bucket;

import org.jspecify.annotations.NullMarked;
