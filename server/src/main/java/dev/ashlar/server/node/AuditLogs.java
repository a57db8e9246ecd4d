package dev.ashlar.server.node;

import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.LogOptions;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The audit log of the S3 port and the management port. */
final class AuditLogs {
  private AuditLogs() {}

  /**
   * Null without one.
   *
   * @throws IOException naming the file that cannot be opened
   */
  static @Nullable AuditLog open(ServerOptions options, CloseStack opened, MeterRegistry meters)
      throws IOException {
    String where = options.logs().auditLog();
    AuditLog log = where == null ? null : opened.add(open(where, node(options)));
    FunctionCounter.builder("ashlar.audit.dropped", meters, any -> log == null ? 0 : log.dropped())
        .description("Lines of the audit log that were not written")
        .register(meters);
    return log;
  }

  private static @Nullable String node(ServerOptions options) {
    ClusterOptions cluster = options.cluster();
    return cluster == null ? null : cluster.node();
  }

  private static AuditLog open(String where, @Nullable String node) throws IOException {
    if (where.equals(LogOptions.STDOUT)) {
      return AuditLog.toStdout(node);
    }
    try {
      return AuditLog.toFile(Path.of(where), node);
    } catch (IOException e) {
      throw new IOException("--audit-log " + where + " cannot be opened: " + e.getMessage(), e);
    }
  }
}
