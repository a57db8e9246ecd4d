/** Processes killed, drives lost and damaged, against a model of what must remain. */
@NullMarked
package dev.ashlar.it.fault;

import org.jspecify.annotations.NullMarked;
