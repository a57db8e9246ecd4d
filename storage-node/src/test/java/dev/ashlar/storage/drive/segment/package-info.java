/** Tests. */
@NullMarked
package dev.ashlar.storage.drive.segment;

import org.jspecify.annotations.NullMarked;
