@NullMarked
package dev.ashlar.blob.engine;

import org.jspecify.annotations.NullMarked;
