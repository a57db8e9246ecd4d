/** Ashlar and other S3 servers at the same work, in turn. */
@NullMarked
package dev.ashlar.bench.versus;

import org.jspecify.annotations.NullMarked;
