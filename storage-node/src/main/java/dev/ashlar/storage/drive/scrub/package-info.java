/** The scrub: reading everything a drive holds in order to find damage. */
@NullMarked
package dev.ashlar.storage.drive.scrub;

import org.jspecify.annotations.NullMarked;
