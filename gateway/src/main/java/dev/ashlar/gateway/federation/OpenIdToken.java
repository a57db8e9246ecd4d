package dev.ashlar.gateway.federation;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An ID token (OpenID Connect Core 1.0, section 2) that is not verified yet. */
public final class OpenIdToken {
  private static final Duration SKEW_MAX = Duration.ofSeconds(60);
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512);
  private static final String SCHEME = "https://";

  private final SignedJWT token;
  private final String issuer;

  private OpenIdToken(SignedJWT token, String issuer) {
    this.token = token;
    this.issuer = issuer;
  }

  /**
   * @throws InvalidTokenException if it is no signed token of a provider with an https URL
   */
  public static OpenIdToken parse(String text) throws InvalidTokenException {
    try {
      SignedJWT token = SignedJWT.parse(text);
      String issuer = token.getJWTClaimsSet().getIssuer();
      if (issuer == null || !issuer.startsWith(SCHEME)) {
        throw InvalidTokenException.invalid("The token has no issuer with an https URL.");
      }
      return new OpenIdToken(token, issuer);
    } catch (ParseException e) {
      throw InvalidTokenException.invalid(
          "The token that was provided is not a signed JSON web token.", e);
    }
  }

  /** The name of the provider that the token claims to be from. */
  public String providerName() {
    return issuer.substring(SCHEME.length());
  }

  /**
   * Verifies signature, times and audience.
   *
   * @param provider of the token
   */
  public WebIdentity verify(Provider provider, ProviderKeys keys, Instant now)
      throws InvalidTokenException {
    if (!issuer.equals(provider.issuer())) {
      throw InvalidTokenException.invalid("The token is not from " + provider.issuer() + ".");
    }
    JWTClaimsSet claims = verifiedClaims(provider, keys);
    checkTimes(claims, now);
    return identity(provider, claims);
  }

  private JWTClaimsSet verifiedClaims(Provider provider, ProviderKeys keys)
      throws InvalidTokenException {
    if (!ALGORITHMS.contains(token.getHeader().getAlgorithm())) {
      throw InvalidTokenException.invalid(
          "The token is signed with an algorithm that is not accepted.");
    }
    DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, keys.of(provider)));
    // Times and audience are checked after the signature, with errors of their own.
    processor.setJWTClaimsSetVerifier((claims, context) -> {});
    try {
      return processor.process(token, null);
    } catch (KeySourceException e) {
      throw InvalidTokenException.invalid(
          "Couldn't retrieve verification key from your identity provider, please reference"
              + " AssumeRoleWithWebIdentity documentation for requirements",
          e);
    } catch (BadJOSEException | JOSEException e) {
      throw InvalidTokenException.invalid("The token is not signed by a key of its provider.", e);
    }
  }

  private static void checkTimes(JWTClaimsSet claims, Instant now) throws InvalidTokenException {
    Date expires = claims.getExpirationTime();
    Date issued = claims.getIssueTime();
    if (expires == null || issued == null) {
      throw InvalidTokenException.invalid("The token has no time of issue or of expiration.");
    }
    if (!now.isBefore(expires.toInstant().plus(SKEW_MAX))) {
      throw InvalidTokenException.expired();
    }
    Date notBefore = claims.getNotBeforeTime();
    Instant latest = now.plus(SKEW_MAX);
    if (issued.toInstant().isAfter(latest)
        || (notBefore != null && notBefore.toInstant().isAfter(latest))) {
      throw InvalidTokenException.invalid("The token is not valid yet.");
    }
  }

  private static WebIdentity identity(Provider provider, JWTClaimsSet claims)
      throws InvalidTokenException {
    try {
      String subject = claims.getSubject();
      List<String> audiences = claims.getAudience();
      if (subject == null || subject.isEmpty() || audiences.isEmpty()) {
        throw InvalidTokenException.invalid("The token has no subject or no audience.");
      }
      @Nullable String party = claims.getStringClaim("azp");
      String client =
          party != null
              ? party
              : audiences.stream()
                  .filter(provider.clientIds()::contains)
                  .findFirst()
                  .orElse(audiences.getFirst());
      if (!provider.clientIds().contains(client)) {
        throw InvalidTokenException.invalid("Incorrect token audience");
      }
      @Nullable String email = claims.getStringClaim("email");
      @Nullable List<String> methods = claims.getStringListClaim("amr");
      return new WebIdentity(
          provider,
          subject,
          audiences,
          client,
          email == null ? "" : email,
          methods == null ? List.of() : methods,
          TokenTags.of(claims));
    } catch (ParseException e) {
      throw InvalidTokenException.invalid("A claim of the token is malformed.", e);
    }
  }
}
