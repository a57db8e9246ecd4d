/** The sockets of the management port. */
@NullMarked
package dev.ashlar.server.port;

import org.jspecify.annotations.NullMarked;
