/** Calls between processes that are not about drives: client, server, and their messages. */
@NullMarked
package dev.ashlar.transport.call;

import org.jspecify.annotations.NullMarked;
