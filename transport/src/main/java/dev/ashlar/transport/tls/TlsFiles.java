package dev.ashlar.transport.tls;

import java.nio.file.Path;

/**
 * Where the certificates of a process are, as PEM; they may be replaced while it runs.
 *
 * @param certificates its own, then those between it and an authority
 * @param key of its own certificate, in PKCS#8 and not encrypted
 * @param authorities one of which has to have issued what others show
 */
public record TlsFiles(Path certificates, Path key, Path authorities) {}
