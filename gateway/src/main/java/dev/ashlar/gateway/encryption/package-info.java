/** How requests and buckets ask for encryption, and what follows for an object. */
@NullMarked
package dev.ashlar.gateway.encryption;

import org.jspecify.annotations.NullMarked;
