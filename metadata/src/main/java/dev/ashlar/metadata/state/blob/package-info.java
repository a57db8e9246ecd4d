/** Commands on blobs: creation, change, fold, debts, repair and relocation. */
@NullMarked
package dev.ashlar.metadata.state.blob;

import org.jspecify.annotations.NullMarked;
