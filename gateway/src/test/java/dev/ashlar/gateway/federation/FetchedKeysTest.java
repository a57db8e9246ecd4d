package dev.ashlar.gateway.federation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Keys from a real HTTPS server on this machine. */
class FetchedKeysTest {
  private static final String DOCUMENT = "/realm/.well-known/openid-configuration";

  private final Map<String, String> pages = new ConcurrentHashMap<>();
  private final AtomicInteger requests = new AtomicInteger();
  private final FetchedKeys keys = new FetchedKeys();
  private final JWK key = new ECKeyGenerator(Curve.P_256).keyID("one").generate();

  @SuppressWarnings("NullAway.Init")
  private HttpsServer server;

  @SuppressWarnings("NullAway.Init")
  private String thumbprint;

  FetchedKeysTest() throws Exception {}

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void start(String host) throws Exception {
    X509Bundle certificate =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=" + host)
            .addSanDnsName(host)
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    thumbprint =
        HexFormat.of()
            .formatHex(
                MessageDigest.getInstance("SHA-1")
                    .digest(certificate.getCertificate().getEncoded()));
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(certificate.toKeyManagerFactory().getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    server.createContext("/", this::answer);
    server.start();
    pages.put(DOCUMENT, "{\"issuer\":\"" + issuer() + "\",\"jwks_uri\":\"" + issuer() + "/keys\"}");
    pages.put("/realm/keys", new JWKSet(key.toPublicJWK()).toString());
  }

  private void answer(HttpExchange exchange) throws IOException {
    requests.incrementAndGet();
    String page = pages.get(exchange.getRequestURI().getPath());
    if (page != null && page.startsWith("https:")) {
      exchange.getResponseHeaders().set("Location", page);
      exchange.sendResponseHeaders(302, -1);
    } else if (page == null) {
      exchange.sendResponseHeaders(404, -1);
    } else {
      byte[] bytes = page.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
    exchange.close();
  }

  private String issuer() {
    return "https://localhost:" + server.getAddress().getPort() + "/realm";
  }

  private Provider provider(String... thumbprints) {
    return new Provider(
        issuer().substring("https://".length()), List.of("client"), List.of(thumbprints));
  }

  private List<String> fetch(Provider provider) throws KeySourceException {
    JWKSelector all = new JWKSelector(new JWKMatcher.Builder().build());
    return keys.of(provider).get(all, null).stream().map(JWK::getKeyID).toList();
  }

  private void refused(Provider provider) {
    assertThrows(KeySourceException.class, () -> fetch(provider));
  }

  @Test
  void certificateWithAListedThumbprintIsTrusted() throws Exception {
    start("localhost");
    assertEquals(List.of("one"), fetch(provider("00".repeat(20), thumbprint)));
    int fetched = requests.get();
    assertEquals(List.of("one"), fetch(provider("00".repeat(20), thumbprint)));
    assertEquals(fetched, requests.get());
  }

  @Test
  void otherCertificatesAreNotTrusted() throws Exception {
    start("localhost");
    refused(provider());
    refused(provider("00".repeat(20)));
    assertEquals(0, requests.get());
  }

  @Test
  void certificateHasToNameTheHost() throws Exception {
    start("elsewhere.test");
    refused(provider(thumbprint));
    assertEquals(0, requests.get());
  }

  @Test
  void configurationOfAnotherIssuerIsRefused() throws Exception {
    start("localhost");
    pages.put(
        DOCUMENT, "{\"issuer\":\"https://other.test\",\"jwks_uri\":\"" + issuer() + "/keys\"}");
    refused(provider(thumbprint));
  }

  @Test
  void redirectsAndPlainHttpAreNotFollowed() throws Exception {
    start("localhost");
    String good = pages.get(DOCUMENT);
    pages.put("/moved", String.valueOf(good));
    pages.put(DOCUMENT, "https://localhost:" + server.getAddress().getPort() + "/moved");
    refused(provider(thumbprint));
    pages.put(
        DOCUMENT, "{\"issuer\":\"" + issuer() + "\",\"jwks_uri\":\"http://127.0.0.1:1/keys\"}");
    refused(provider(thumbprint, "11".repeat(20)));
    pages.put(DOCUMENT, "{\"issuer\":\"" + issuer() + "\",\"jwks_uri\":\"file:///etc/passwd\"}");
    refused(provider(thumbprint, "22".repeat(20)));
    pages.put(DOCUMENT, "{\"issuer\":\"" + issuer() + "\"}");
    refused(provider(thumbprint, "33".repeat(20)));
  }

  @Test
  void hugeAndMalformedDocumentsAreRefused() throws Exception {
    start("localhost");
    pages.put("/realm/keys", "{\"keys\":[" + " ".repeat(1 << 20) + "]}");
    refused(provider(thumbprint));
    pages.put("/realm/keys", "[".repeat(100_000));
    refused(provider(thumbprint, "11".repeat(20)));
    pages.put("/realm/keys", "{}");
    refused(provider(thumbprint, "22".repeat(20)));
    pages.remove("/realm/keys");
    refused(provider(thumbprint, "33".repeat(20)));
  }

  @Test
  void failuresAreNotRetriedAtAnyRate() throws Exception {
    start("localhost");
    pages.clear();
    for (int i = 0; i < 20; i++) {
      refused(provider(thumbprint));
    }
    assertEquals(true, requests.get() <= 2, "requests: " + requests.get());
  }
}
