package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.transport.tls.TestAuthority;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The certificate of the server is valid for 127.0.0.1 only. */
class NatsTlsTest {
  @TempDir private Path folder;
  private FakeNatsServer server;

  @BeforeEach
  void open() throws Exception {
    TestAuthority authority = new TestAuthority(folder, "authority");
    Files.writeString(folder.resolve("ca.crt"), authority.pem());
    X509Bundle certificate = authority.issue("nats", TestAuthority::node);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(certificate.toKeyManagerFactory().getKeyManagers(), null, null);
    server = new FakeNatsServer(tls);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  private NatsTarget target(String host) throws IOException {
    return NatsTarget.of(
        "arn",
        "n",
        new TargetFields(
            new ObjectMapper()
                .createObjectNode()
                .put("url", "tls://" + host + ":" + server.port())
                .put("subject", "events")
                .put("token", "hunter2")
                .put("ca", "ca.crt"),
            folder.resolve("targets.json")));
  }

  @Test
  void theServerIsWhoItIsTakenFor() throws Exception {
    try (NatsTarget target = target("127.0.0.1")) {
      Sends.succeeds(target);
    }
    assertEquals(List.of("events " + Sends.JSON), server.published);
  }

  @Test
  void aCertificateWithAnotherNameIsRefused() throws Exception {
    try (NatsTarget target = target("localhost")) {
      Sends.fails(target);
    }
    assertEquals("", server.connect, "it has got the token");
  }
}
