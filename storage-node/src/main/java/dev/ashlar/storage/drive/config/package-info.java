/** Configuration of a drive. */
@NullMarked
package dev.ashlar.storage.drive.config;

import org.jspecify.annotations.NullMarked;
