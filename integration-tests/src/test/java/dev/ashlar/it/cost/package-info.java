/** What an object, a range and an idle server cost. */
@NullMarked
package dev.ashlar.it.cost;

import org.jspecify.annotations.NullMarked;
