@NullMarked
package dev.ashlar.transport.metadata;

import org.jspecify.annotations.NullMarked;
