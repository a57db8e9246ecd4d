@NullMarked
package dev.ashlar.server.cli;

import org.jspecify.annotations.NullMarked;
