/** Cross-origin resource sharing: which pages of other origins a bucket answers. */
@NullMarked
package dev.ashlar.gateway.cors;

import org.jspecify.annotations.NullMarked;
