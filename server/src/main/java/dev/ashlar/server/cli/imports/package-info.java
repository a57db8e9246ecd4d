/** {@code ashlar import}: buckets, objects and users of another object store. */
@NullMarked
package dev.ashlar.server.cli.imports;

import org.jspecify.annotations.NullMarked;
