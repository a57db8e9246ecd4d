/** Whether what concurrent clients saw can have happened one after the other. */
@NullMarked
package dev.ashlar.it.linear;

import org.jspecify.annotations.NullMarked;
