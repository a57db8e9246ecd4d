@NullMarked
package dev.ashlar.importer;

import org.jspecify.annotations.NullMarked;
