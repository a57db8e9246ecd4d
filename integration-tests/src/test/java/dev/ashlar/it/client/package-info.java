/** Real S3 clients against a running server. */
@NullMarked
package dev.ashlar.it.client;

import org.jspecify.annotations.NullMarked;
