/** Multipart uploads. */
@NullMarked
package dev.ashlar.gateway.operation.multipart;

import org.jspecify.annotations.NullMarked;
