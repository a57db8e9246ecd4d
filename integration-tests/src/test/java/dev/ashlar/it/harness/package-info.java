/** The server as a process, its clients, and what the tests know of both. */
@NullMarked
package dev.ashlar.it.harness;

import org.jspecify.annotations.NullMarked;
