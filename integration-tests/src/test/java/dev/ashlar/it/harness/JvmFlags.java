package dev.ashlar.it.harness;

import java.util.ArrayList;
import java.util.List;

/** The virtual machine's flags, as the launcher sets them (without its class archive). */
final class JvmFlags {
  private JvmFlags() {}

  static List<String> asLaunched() {
    List<String> flags =
        new ArrayList<>(
            List.of(
                "-Xms64m",
                "-Xmx384m",
                "-XX:MaxDirectMemorySize=512m",
                "-XX:+UseG1GC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED"));
    int version = Runtime.version().feature();
    if (version >= 24) {
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    if (version >= 25) {
      flags.add("-XX:+UseCompactObjectHeaders");
    }
    return flags;
  }
}
