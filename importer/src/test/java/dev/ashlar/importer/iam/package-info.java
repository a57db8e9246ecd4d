@NullMarked
package dev.ashlar.importer.iam;

import org.jspecify.annotations.NullMarked;
