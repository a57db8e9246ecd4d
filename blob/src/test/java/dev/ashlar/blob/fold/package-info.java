@NullMarked
package dev.ashlar.blob.fold;

import org.jspecify.annotations.NullMarked;
