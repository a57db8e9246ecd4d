package dev.ashlar.storage.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/** Certificates that sign themselves, made by the JDK's own tool. */
final class Certificates {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private final KeyStore store;

  private Certificates(KeyStore store) {
    this.store = store;
  }

  static Certificates make(Path folder, String name) throws Exception {
    Path file = folder.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1",
                "-validity",
                "36500",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, keytool.waitFor(), said);
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    return new Certificates(store);
  }

  SslContext server(Certificates trusted) throws Exception {
    return SslContextBuilder.forServer(keys())
        .trustManager(trusted.trust())
        .clientAuth(ClientAuth.REQUIRE)
        .build();
  }

  SslContext client(Certificates trusted) throws Exception {
    return SslContextBuilder.forClient().keyManager(keys()).trustManager(trusted.trust()).build();
  }

  private KeyManagerFactory keys() throws Exception {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD);
    return keys;
  }

  private TrustManagerFactory trust() throws Exception {
    KeyStore anchors = KeyStore.getInstance("PKCS12");
    anchors.load(null, PASSWORD);
    String alias = store.aliases().nextElement();
    anchors.setCertificateEntry(alias, store.getCertificate(alias));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(anchors);
    return trust;
  }
}
