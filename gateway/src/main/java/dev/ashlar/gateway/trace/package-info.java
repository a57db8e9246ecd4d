/** The spans of requests of the S3 port. */
@NullMarked
package dev.ashlar.gateway.trace;

import org.jspecify.annotations.NullMarked;
