/** TLS below the frames: certificates from files, what both sides check, and what is said of it. */
@NullMarked
package dev.ashlar.transport.tls;

import org.jspecify.annotations.NullMarked;
