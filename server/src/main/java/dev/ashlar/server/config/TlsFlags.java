package dev.ashlar.server.config;

import dev.ashlar.transport.tls.TlsFiles;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Certificates with which the processes of a cluster know each other: all of it or none. */
public final class TlsFlags {
  @Option(
      names = "--cluster-tls-cert",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CLUSTER_TLS_CERT}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Of a cluster, for mutual TLS between its processes: this one's certificate for its"
              + " --host, in PEM, with those between it and an authority behind it. Read anew when"
              + " it changes, as are the next two.")
  private @Nullable Path certificates;

  @Option(
      names = "--cluster-tls-key",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CLUSTER_TLS_KEY}",
      showDefaultValue = Visibility.NEVER,
      description = "The certificate's private key, PKCS#8 in PEM.")
  private @Nullable Path key;

  @Option(
      names = "--cluster-tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CLUSTER_TLS_CA}",
      showDefaultValue = Visibility.NEVER,
      description = "Authorities that the others' certificates have to come from, in PEM.")
  private @Nullable Path authorities;

  boolean isGiven() {
    return Stream.of(certificates, key, authorities).anyMatch(Objects::nonNull);
  }

  /**
   * The files, with absolute paths; null: no TLS.
   *
   * @throws IllegalArgumentException when only some of them are named
   */
  public @Nullable TlsFiles files() {
    Path certificate = certificates;
    Path privateKey = key;
    Path trusted = authorities;
    if (certificate == null && privateKey == null && trusted == null) {
      return null;
    }
    if (certificate == null || privateKey == null || trusted == null) {
      throw new IllegalArgumentException(
          "--cluster-tls-cert, --cluster-tls-key and --cluster-tls-ca go together: name all of"
              + " them, or none");
    }
    return new TlsFiles(
        certificate.toAbsolutePath(), privateKey.toAbsolutePath(), trusted.toAbsolutePath());
  }
}
