@NullMarked
package dev.ashlar.blob.read;

import org.jspecify.annotations.NullMarked;
