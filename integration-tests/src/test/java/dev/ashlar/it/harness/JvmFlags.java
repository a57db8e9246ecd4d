package dev.ashlar.it.harness;

import java.util.ArrayList;
import java.util.List;

/** The virtual machine's flags, as the launcher sets them. */
final class JvmFlags {
  private JvmFlags() {}

  static List<String> asLaunched() {
    List<String> flags = new ArrayList<>(List.of("-Xmx512m", "-XX:MaxDirectMemorySize=384m"));
    flags.add("--enable-native-access=ALL-UNNAMED");
    if (Runtime.version().feature() >= 24) {
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags;
  }
}
