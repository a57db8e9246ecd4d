package dev.ashlar.server.config;

/**
 * Something that is configured.
 *
 * @param value empty if it is not set
 * @param from where the value comes from
 */
public record Setting(String name, String value, String from) {
  static final String DEFAULT = "default";
  static final String DERIVED = "derived";
  static final String COMMAND_LINE = "command line";
  static final String MACHINE = "machine";
}
