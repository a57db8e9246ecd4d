/** Tests of drives that are reached over connections. */
@NullMarked
package dev.ashlar.storage.server;

import org.jspecify.annotations.NullMarked;
