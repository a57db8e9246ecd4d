/** The one executable: command line, wiring of the roles, management port. */
@NullMarked
package dev.ashlar.server;

import org.jspecify.annotations.NullMarked;
