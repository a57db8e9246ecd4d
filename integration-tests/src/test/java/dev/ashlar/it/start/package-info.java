/** What a start refuses, and what it leaves behind then. */
@NullMarked
package dev.ashlar.it.start;

import org.jspecify.annotations.NullMarked;
