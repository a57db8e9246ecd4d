/** STS: sessions, which are credentials for a while. */
@NullMarked
package dev.ashlar.gateway.session;

import org.jspecify.annotations.NullMarked;
