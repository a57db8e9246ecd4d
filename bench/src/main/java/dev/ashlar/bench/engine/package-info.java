/**
 * The storage engine by itself, without S3 before it: what operations cost and how fast they are.
 */
@NullMarked
package dev.ashlar.bench.engine;

import org.jspecify.annotations.NullMarked;
