/** OpenID Connect: tokens of outside identity providers and the keys that verify them. */
@NullMarked
package dev.ashlar.gateway.federation;

import org.jspecify.annotations.NullMarked;
