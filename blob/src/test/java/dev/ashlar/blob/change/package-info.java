@NullMarked
package dev.ashlar.blob.change;

import org.jspecify.annotations.NullMarked;
