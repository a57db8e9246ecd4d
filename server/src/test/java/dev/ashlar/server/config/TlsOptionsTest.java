package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which addresses use TLS, and with which certificates. */
class TlsOptionsTest {
  @TempDir private Path folder;

  private static ServerOptions parsed(Map<String, String> environment, String... arguments) {
    return ServerOptions.parse(environment, arguments);
  }

  private static String listen(String... arguments) {
    return parsed(Map.of(), arguments).service().listen().toString();
  }

  private static void refused(String part, String... arguments) {
    Exception refusal = assertThrows(Exception.class, () -> parsed(Map.of(), arguments));
    assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal::toString);
  }

  @Test
  void aCertificateTurnsTlsOn() {
    String[] pair = {"--tls-cert=a.crt", "--tls-key=a.key"};
    assertEquals("[http://127.0.0.1:9000]", listen());
    assertEquals("[https://127.0.0.1:9000]", listen(pair));
    assertEquals(
        "[https://127.0.0.1:9001]", parsed(Map.of(), pair).service().managementListen().toString());
  }

  @Test
  void portsServeBoth() throws Exception {
    assertEquals(
        "[https://0.0.0.0:9443, http://127.0.0.1:9000, https://[::1]:1]",
        listen(
            "--tls-cert=a.crt",
            "--tls-key=a.key",
            "--listen=https://0.0.0.0:9443,http://127.0.0.1:9000",
            "--listen=[::1]:1"));
    Path file =
        Files.writeString(
            folder.resolve("f"), "listen=http://h:1,https://h:2\ntls-cert=a,b\ntls-key=c,d\n");
    ServerOptions options =
        parsed(Map.of("ASHLAR_MANAGEMENT_LISTEN", "h:3,http://h:4"), "--config=" + file);
    assertEquals("[http://h:1, https://h:2]", options.service().listen().toString());
    assertEquals("[https://h:3, http://h:4]", options.service().managementListen().toString());
    assertEquals(2, options.certificates().size());
    assertEquals(Path.of("b").toAbsolutePath(), options.certificates().get(1).certificates());
    assertEquals(Path.of("d").toAbsolutePath(), options.certificates().get(1).key());
  }

  @Test
  void whatIsMissingIsNamed() {
    refused("--listen https://h:1 needs a certificate", "--listen=https://h:1");
    refused(
        "--management-listen https://h:1 needs a certificate", "--management-listen=https://h:1");
    refused("--tls-cert and --tls-key go together", "--tls-cert=a.crt");
    refused("--tls-cert and --tls-key go together", "--tls-cert=a,b", "--tls-key=c");
    refused("is not HOST:PORT", "--listen=ftp://h:1");
  }

  @Test
  void theS3AddressOfOthersThanGatewaysDoesNotCount() {
    Map<String, String> secret = Map.of(ClusterOptions.SECRET_VARIABLE, "sixteen bytes or more");
    List<String> member =
        new ArrayList<>(
            List.of("--cluster=c", "--node=n", "--metadata-nodes=n:9002", "--listen=https://h:1"));
    assertThrows(
        IllegalArgumentException.class, () -> parsed(secret, member.toArray(new String[0])));
    member.addAll(List.of("--roles=metadata", "--metadata=m"));
    ServerOptions options = parsed(secret, member.toArray(new String[0]));
    assertEquals("[http://127.0.0.1:9001]", options.service().managementListen().toString());
  }
}
