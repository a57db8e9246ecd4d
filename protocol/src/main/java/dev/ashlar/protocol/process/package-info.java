/**
 * What every process of the cluster runs on: background threads, a clock without jumps, and log
 * lines of limited number.
 */
@NullMarked
package dev.ashlar.protocol.process;

import org.jspecify.annotations.NullMarked;
