/**
 * The command {@code ashlar admin}: requests to management ports, and their answers on the
 * terminal.
 */
@NullMarked
package dev.ashlar.server.cli.admin;

import org.jspecify.annotations.NullMarked;
