/** Imports from other S3 services. */
@NullMarked
package dev.ashlar.it.imports;

import org.jspecify.annotations.NullMarked;
