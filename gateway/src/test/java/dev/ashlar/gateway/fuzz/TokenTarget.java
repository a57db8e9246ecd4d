package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import dev.ashlar.gateway.federation.InvalidTokenException;
import dev.ashlar.gateway.federation.OpenIdToken;
import dev.ashlar.gateway.federation.Provider;
import dev.ashlar.gateway.principal.Session;
import dev.ashlar.gateway.principal.SessionTokens;
import dev.ashlar.protocol.message.PrincipalQuery;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;

/** Tokens: none that was not issued is accepted. */
public final class TokenTarget {
  // Of this process: tokens of earlier ones, which are among the inputs, are not issued here.
  private static final ByteString KEY =
      ByteString.copyFrom(new SecureRandom().generateSeed(SessionTokens.KEY_BYTES));
  private static final ByteString OTHER_KEY =
      ByteString.copyFrom("x".repeat(SessionTokens.KEY_BYTES), UTF_8);
  private static final Instant NOW = Instant.parse("2026-11-27T00:00:00Z");
  private static final String ISSUED = issued();
  private static final ECKey PROVIDER_KEY = key();

  private TokenTarget() {}

  private static String issued() {
    Session session =
        new Session("ASIA", "s", "n", NOW, NOW.plusSeconds(9), List.of("p"), List.of(), "", "");
    PrincipalQuery principal = PrincipalQuery.newBuilder().setAccessKey("AKIA").build();
    return SessionTokens.issue(principal, session, KEY, new SecureRandom()).orElseThrow();
  }

  private static ECKey key() {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID("one").generate();
    } catch (com.nimbusds.jose.JOSEException e) {
      throw new AssertionError(e);
    }
  }

  public static void fuzzerTestOneInput(byte[] data) {
    String text = new String(data, UTF_8);
    SessionTokens.read(text)
        .ifPresent(
            claim -> {
              claim.principal();
              boolean isOpened = claim.open(KEY).isPresent();
              if ((isOpened && !text.equals(ISSUED)) || claim.open(OTHER_KEY).isPresent()) {
                throw new AssertionError("a token that nobody issued: " + text);
              }
            });
    try {
      OpenIdToken token = OpenIdToken.parse(text);
      token.verify(
          new Provider(token.providerName(), List.of("client"), List.of()),
          provider -> new ImmutableJWKSet<>(new JWKSet(PROVIDER_KEY.toPublicJWK())),
          NOW);
      throw new AssertionError("a token that nobody signed: " + text);
    } catch (InvalidTokenException e) {
      // As it should be.
    }
  }

  static List<byte[]> seeds() {
    return List.of(
        ISSUED.getBytes(UTF_8),
        // {"alg":"ES256","kid":"one"} and {"iss":"https://idp.test","aud":"client","sub":"a"}
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9"
                + ".eyJpc3MiOiJodHRwczovL2lkcC50ZXN0IiwiYXVkIjoiY2xpZW50Iiwic3ViIjoiYSJ9.AAAA")
            .getBytes(UTF_8),
        // {"alg":"none"}
        ("eyJhbGciOiJub25lIn0"
                + ".eyJpc3MiOiJodHRwczovL2lkcC50ZXN0IiwiYXVkIjoiY2xpZW50Iiwic3ViIjoiYSJ9.")
            .getBytes(UTF_8));
  }
}
