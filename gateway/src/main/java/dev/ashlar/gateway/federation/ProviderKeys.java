package dev.ashlar.gateway.federation;

import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;

/** Where the public keys of providers come from. */
@FunctionalInterface
public interface ProviderKeys {
  /** The keys of a provider; asking for one may fetch them. */
  JWKSource<SecurityContext> of(Provider provider);
}
