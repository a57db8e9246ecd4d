/** Copies buckets, objects and users from another object store, through S3 on both sides. */
@NullMarked
package dev.ashlar.importer;

import org.jspecify.annotations.NullMarked;
