/** TLS below the frames: certificates from files, checks, and explanations of failures. */
@NullMarked
package dev.ashlar.transport.tls;

import org.jspecify.annotations.NullMarked;
