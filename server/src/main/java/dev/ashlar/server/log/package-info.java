/** The log of the process: its level and the form of its lines. */
@NullMarked
package dev.ashlar.server.log;

import org.jspecify.annotations.NullMarked;
