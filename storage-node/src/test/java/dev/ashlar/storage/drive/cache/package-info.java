/** Tests. */
@NullMarked
package dev.ashlar.storage.drive.cache;

import org.jspecify.annotations.NullMarked;
