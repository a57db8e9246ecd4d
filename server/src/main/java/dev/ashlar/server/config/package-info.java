/** Options of a server: their declaration, their sources, their checks. */
@NullMarked
package dev.ashlar.server.config;

import org.jspecify.annotations.NullMarked;
