/** Sessions between processes of one cluster: the port, the handshake, and reconnecting. */
@NullMarked
package dev.ashlar.transport.session;

import org.jspecify.annotations.NullMarked;
