package dev.ashlar.it.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.ashlar.it.harness.Python;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An identity provider of its own; the assertions stand in web_identity_test.py. */
@ExtendWith(SharedServer.class)
class WebIdentityIT {
  private final ECKey key = new ECKeyGenerator(Curve.P_256).keyID("key").generate();

  WebIdentityIT() throws Exception {}

  @Test
  void tokenBeginsASession(ServerProcess server) throws Exception {
    X509Bundle certificate =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=localhost")
            .addSanDnsName("localhost")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(certificate.toKeyManagerFactory().getKeyManagers(), null, null);
    HttpsServer provider =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try {
      provider.setHttpsConfigurator(new HttpsConfigurator(tls));
      String url = "https://localhost:" + provider.getAddress().getPort() + "/realm";
      answer(
          provider,
          "/realm/.well-known/openid-configuration",
          "{\"issuer\":\"" + url + "\",\"jwks_uri\":\"" + url + "/keys\"}");
      answer(provider, "/realm/keys", new JWKSet(key.toPublicJWK()).toString());
      provider.start();
      byte[] der = certificate.getCertificate().getEncoded();
      String thumbprint = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(der));
      Instant now = Instant.now();
      Python.withClients()
          .run(
              "web_identity_test.py",
              server,
              url,
              thumbprint,
              token(url, now.plusSeconds(600)),
              token(url, now.minusSeconds(600)));
    } finally {
      provider.stop(0);
    }
  }

  private static void answer(HttpsServer provider, String path, String document) {
    provider.createContext(
        path,
        exchange -> {
          byte[] bytes = document.getBytes(UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private String token(String issuer, Instant expires) throws Exception {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("key").build(),
            new JWTClaimsSet.Builder()
                .issuer(issuer)
                .subject("alice")
                .audience("lake")
                .issueTime(Date.from(expires.minusSeconds(1200)))
                .expirationTime(Date.from(expires))
                .build());
    token.sign(new ECDSASigner(key));
    return token.serialize();
  }
}
