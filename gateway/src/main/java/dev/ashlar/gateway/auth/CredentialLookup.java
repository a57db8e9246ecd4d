package dev.ashlar.gateway.auth;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CredentialRow;
import java.util.Optional;

/** Finds the secret and the owner behind an access key. */
@FunctionalInterface
public interface CredentialLookup {
  Optional<CredentialRow> credential(String accessKey) throws MetadataUnavailableException;
}
