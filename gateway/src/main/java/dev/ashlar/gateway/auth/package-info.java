/** Who sent this request, and are its bytes what was signed. */
@NullMarked
package dev.ashlar.gateway.auth;

import org.jspecify.annotations.NullMarked;
