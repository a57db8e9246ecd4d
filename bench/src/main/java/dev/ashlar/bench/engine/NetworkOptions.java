package dev.ashlar.bench.engine;

import dev.ashlar.transport.tls.TlsFiles;
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
            "As --tcp, and with mutual TLS, as a server has it by these options: a certificate for"
                + " IP:127.0.0.1, in PEM; engine and nodes show the same.")
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

  /** Null: engine and drives are in one process. */
  @Nullable Network network() {
    if (tls != null) {
      return new Network(new TlsFiles(tls.certificates, tls.key, tls.authorities));
    }
    return isRemote ? new Network(null) : null;
  }

  /** Behind "drives"; empty where there is nothing. */
  String text() {
    Network network = network();
    return network == null
        ? ""
        : ", each behind a storage node of its own" + (network.tls() == null ? "" : ", with TLS");
  }
}
