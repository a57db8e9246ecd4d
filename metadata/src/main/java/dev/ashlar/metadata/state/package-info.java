/** The state machine: pure, deterministic apply of commands to tables, and the reads. */
@NullMarked
package dev.ashlar.metadata.state;

import org.jspecify.annotations.NullMarked;
