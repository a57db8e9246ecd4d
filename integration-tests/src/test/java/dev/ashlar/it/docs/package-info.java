/** The commands that the documentation gives its readers. */
@NullMarked
package dev.ashlar.it.docs;

import org.jspecify.annotations.NullMarked;
