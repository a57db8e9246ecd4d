/** Keys of SSE-KMS in the transit engine of HashiCorp Vault or OpenBao. */
@NullMarked
package dev.ashlar.gateway.encryption.vault;

import org.jspecify.annotations.NullMarked;
