/** One file per S3 operation. */
@NullMarked
package dev.ashlar.gateway.operation;

import org.jspecify.annotations.NullMarked;
