/** The errors that S3 clients are told, and the exception that carries one. */
@NullMarked
package dev.ashlar.gateway.error;

import org.jspecify.annotations.NullMarked;
