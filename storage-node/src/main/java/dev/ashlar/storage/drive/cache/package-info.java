/** What a drive keeps in memory about recently changed shards. */
@NullMarked
package dev.ashlar.storage.drive.cache;

import org.jspecify.annotations.NullMarked;
