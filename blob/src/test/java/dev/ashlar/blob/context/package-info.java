@NullMarked
package dev.ashlar.blob.context;

import org.jspecify.annotations.NullMarked;
