/** What every process of the cluster runs on: background threads, and a clock without jumps. */
@NullMarked
package dev.ashlar.protocol.process;

import org.jspecify.annotations.NullMarked;
