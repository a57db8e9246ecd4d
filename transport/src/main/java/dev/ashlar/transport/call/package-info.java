/** Calls between processes that are not about drives: request, answer, and who may ask. */
@NullMarked
package dev.ashlar.transport.call;

import org.jspecify.annotations.NullMarked;
