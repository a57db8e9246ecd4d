/** The commands of the bench, each in a tiny form. */
@NullMarked
package dev.ashlar.it.bench;

import org.jspecify.annotations.NullMarked;
