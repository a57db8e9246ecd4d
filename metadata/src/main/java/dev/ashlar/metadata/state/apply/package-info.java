/**
 * What every command shares: its context, sessions, the cached small tables, the metadata version.
 */
@NullMarked
package dev.ashlar.metadata.state.apply;

import org.jspecify.annotations.NullMarked;
