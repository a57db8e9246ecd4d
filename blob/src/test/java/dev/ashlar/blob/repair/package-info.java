@NullMarked
package dev.ashlar.blob.repair;

import org.jspecify.annotations.NullMarked;
