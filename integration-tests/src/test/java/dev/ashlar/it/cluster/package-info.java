/** A cluster of real processes whose nodes are killed and come back. */
@NullMarked
package dev.ashlar.it.cluster;

import org.jspecify.annotations.NullMarked;
