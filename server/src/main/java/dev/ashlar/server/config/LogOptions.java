package dev.ashlar.server.config;

import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** What the process writes about itself and its requests. */
public final class LogOptions {
  /** In place of a file. */
  public static final String STDOUT = "stdout";

  /** The form of a line. */
  public enum Format {
    TEXT,
    JSON
  }

  @Option(
      names = "--log-level",
      paramLabel = "LEVEL",
      defaultValue = "info",
      description = "Least level of the lines of the log: error, warn, info, debug or trace.")
  private Level level = Level.INFO;

  @Option(
      names = "--log-format",
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "Lines of the log, on the standard error: text, or json for collectors.")
  private Format format = Format.TEXT;

  @Option(
      names = "--audit-log",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "Where each request of the S3 port and each command of the management port gets a line of"
              + " JSON: a file, or stdout. Default: nowhere.")
  private @Nullable String auditLog;

  public Level level() {
    return level;
  }

  public Format format() {
    return format;
  }

  /** A file, or {@link #STDOUT}; null: there is no audit log. */
  public @Nullable String auditLog() {
    return auditLog == null || auditLog.isBlank() ? null : auditLog;
  }
}
