/** Backups of metadata: what is in their files, and new folders made from them. */
@NullMarked
package dev.ashlar.metadata.backup;

import org.jspecify.annotations.NullMarked;
