package dev.ashlar.bench.engine;

import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** What lies between the engine and its drives. */
public final class NetworkOptions {
  @Option(
      names = "--tcp",
      description =
          "Each drive has a storage node of its own, which the engine reaches by TCP on loopback, as"
              + " in a cluster.")
  private boolean isRemote;

  @ArgGroup(exclusive = false)
  private @Nullable Tls tls;

  /** All of it or none. */
  static final class Tls {
    @Option(
        names = "--cluster-tls-cert",
        required = true,
        paramLabel = "FILE",
        description =
            "Certificate for IP:127.0.0.1, in PEM, which engine and nodes both show: mutual TLS"
                + " between them, as in a cluster; implies --tcp.")
    private Path certificates = Path.of("");

    @Option(
        names = "--cluster-tls-key",
        required = true,
        paramLabel = "FILE",
        description = "The certificate's private key, PKCS#8 in PEM.")
    private Path key = Path.of("");

    @Option(
        names = "--cluster-tls-ca",
        required = true,
        paramLabel = "FILE",
        description = "The authority that it comes from, in PEM.")
    private Path authorities = Path.of("");
  }

  /**
   * Null: the engine calls its drives.
   *
   * @throws IOException naming the file in which something is wrong
   */
  @Nullable Network open() throws IOException {
    if (tls != null) {
      return Network.with(new TlsFiles(tls.certificates, tls.key, tls.authorities));
    }
    return isRemote ? Network.withoutTls() : null;
  }

  /** Behind "drives"; empty where there is nothing. */
  String text() {
    String nodes = ", each behind a storage node of its own";
    return tls != null ? nodes + ", with TLS" : isRemote ? nodes : "";
  }
}
