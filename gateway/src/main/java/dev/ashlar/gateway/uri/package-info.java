/** Query strings and percent-encoding. */
@NullMarked
package dev.ashlar.gateway.uri;

import org.jspecify.annotations.NullMarked;
