@NullMarked
package dev.ashlar.blob.move;

import org.jspecify.annotations.NullMarked;
