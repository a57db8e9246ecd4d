/** Data lakes: a catalogue of tables that lends its clients credentials of the store. */
@NullMarked
package dev.ashlar.it.lake;

import org.jspecify.annotations.NullMarked;
