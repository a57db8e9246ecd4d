package dev.ashlar.transport.tls;

import java.nio.file.Path;

/**
 * A certificate and its key, in PEM; they may be replaced while the process runs.
 *
 * @param certificates the certificate, then intermediate ones
 * @param key of the certificate, not encrypted
 */
public record CertificateFiles(Path certificates, Path key) {
  PemFile certificateFile() {
    return new PemFile("certificate", certificates);
  }

  PemFile keyFile() {
    return new PemFile("key", key);
  }
}
