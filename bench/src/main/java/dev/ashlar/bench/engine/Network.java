package dev.ashlar.bench.engine;

import dev.ashlar.transport.tls.TlsFiles;
import org.jspecify.annotations.Nullable;

/**
 * TCP on loopback between an engine and its drives, each of which has a storage node of its own.
 *
 * @param tls what both sides show and trust; null: no TLS
 */
record Network(@Nullable TlsFiles tls) {}
