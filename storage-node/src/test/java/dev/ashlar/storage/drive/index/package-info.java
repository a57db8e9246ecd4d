/** Tests. */
@NullMarked
package dev.ashlar.storage.drive.index;

import org.jspecify.annotations.NullMarked;
