/** Ashlar and MinIO at the same work, in turn. */
@NullMarked
package dev.ashlar.bench.versus;

import org.jspecify.annotations.NullMarked;
