package dev.ashlar.transport.tls;

import java.nio.file.Path;

/**
 * The TLS files of a process, in PEM; they may be replaced while it runs.
 *
 * @param certificates its own certificate, then intermediate ones
 * @param key of its own certificate, in PKCS#8 and not encrypted
 * @param authorities that this process trusts to issue the certificates of others
 */
public record TlsFiles(Path certificates, Path key, Path authorities) {}
