/** The S3 load generator. */
@NullMarked
package dev.ashlar.bench.load;

import org.jspecify.annotations.NullMarked;
