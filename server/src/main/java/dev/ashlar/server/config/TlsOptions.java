package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.transport.tls.CertificateFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Certificates of the S3 port and the management port. */
public final class TlsOptions {
  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      split = ",",
      description =
          "Certificate chain for the S3 port and the management port, in PEM. With several, the"
              + " host name that a client asks for selects one; the first is the default. The"
              + " files are read again when they change.")
  private List<Path> certificates = List.of();

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      split = ",",
      description =
          "Private key of the certificate, in PEM; one for each --tls-cert, in its order.")
  private List<Path> keys = List.of();

  /**
   * The files, with absolute paths; none: no TLS.
   *
   * @throws IllegalArgumentException if a certificate or a key is missing
   */
  public List<CertificateFiles> certificates() {
    require(
        certificates.size() == keys.size(),
        "--tls-cert and --tls-key go together: %s certificate(s) and %s key(s) are given",
        certificates.size(),
        keys.size());
    List<CertificateFiles> pairs = new ArrayList<>();
    for (int i = 0; i < certificates.size(); i++) {
      pairs.add(
          new CertificateFiles(certificates.get(i).toAbsolutePath(), keys.get(i).toAbsolutePath()));
    }
    return pairs;
  }
}
