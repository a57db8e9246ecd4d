package dev.ashlar.server.config;

import dev.ashlar.transport.tls.TlsFiles;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Mutual TLS between the processes of a cluster: all options or none. */
public final class ClusterTlsOptions {
  @Option(
      names = "--cluster-tls-cert",
      paramLabel = "FILE",
      description =
          "Certificate chain of this process for its --host, in PEM. All three files are read again"
              + " when they change.")
  private @Nullable Path certificates;

  @Option(
      names = "--cluster-tls-key",
      paramLabel = "FILE",
      description = "Private key of the certificate, in PEM.")
  private @Nullable Path key;

  @Option(
      names = "--cluster-tls-ca",
      paramLabel = "FILE",
      description =
          "Certificate authorities that the other processes' certificates must come from.")
  private @Nullable Path authorities;

  boolean isGiven() {
    return certificates != null || key != null || authorities != null;
  }

  /**
   * The files, with absolute paths; null: no TLS.
   *
   * @throws IllegalArgumentException if only some of them are given
   */
  public @Nullable TlsFiles files() {
    Path certificate = certificates;
    Path privateKey = key;
    Path trusted = authorities;
    if (certificate != null && privateKey != null && trusted != null) {
      return new TlsFiles(
          certificate.toAbsolutePath(), privateKey.toAbsolutePath(), trusted.toAbsolutePath());
    }
    OptionTypes.require(
        !isGiven(),
        "--cluster-tls-cert, --cluster-tls-key and --cluster-tls-ca go together: give all of them,"
            + " or none");
    return null;
  }
}
