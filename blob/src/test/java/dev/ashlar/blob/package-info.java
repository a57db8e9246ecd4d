@NullMarked
package dev.ashlar.blob;

import org.jspecify.annotations.NullMarked;
