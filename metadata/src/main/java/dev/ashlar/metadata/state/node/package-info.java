/** Commands on nodes, drives and the placement map. */
@NullMarked
package dev.ashlar.metadata.state.node;

import org.jspecify.annotations.NullMarked;
