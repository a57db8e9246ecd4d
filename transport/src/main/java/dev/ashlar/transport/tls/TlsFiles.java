package dev.ashlar.transport.tls;

import java.nio.file.Path;

/**
 * The files of TLS with the other processes of a cluster, in PEM; they may be replaced while the
 * process runs.
 *
 * @param certificates its own certificate, then intermediate ones
 * @param key of its own certificate, not encrypted
 * @param authorities that this process trusts to issue the certificates of others
 */
public record TlsFiles(Path certificates, Path key, Path authorities) {
  CertificateFiles own() {
    return new CertificateFiles(certificates, key);
  }

  PemFile authorityFile() {
    return new PemFile("authorities", authorities);
  }
}
