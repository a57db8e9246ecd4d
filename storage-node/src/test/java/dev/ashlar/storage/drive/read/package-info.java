/** Tests. */
@NullMarked
package dev.ashlar.storage.drive.read;

import org.jspecify.annotations.NullMarked;
