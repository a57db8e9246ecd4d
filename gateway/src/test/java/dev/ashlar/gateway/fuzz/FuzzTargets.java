package dev.ashlar.gateway.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** All targets, by the names of their classes. */
public final class FuzzTargets {
  /**
   * A target.
   *
   * @param seeds that fuzzers begin with
   */
  record Target(Consumer<byte[]> run, List<byte[]> seeds) {}

  static final Map<String, Target> ALL =
      new TreeMap<>(
          Map.of(
              "NameTarget", new Target(NameTarget::fuzzerTestOneInput, NameTarget.seeds()),
              "PolicyTarget", new Target(PolicyTarget::fuzzerTestOneInput, PolicyTarget.seeds()),
              "RequestTarget", new Target(RequestTarget::fuzzerTestOneInput, RequestTarget.seeds()),
              "TokenTarget", new Target(TokenTarget::fuzzerTestOneInput, TokenTarget.seeds()),
              "XmlTarget", new Target(XmlTarget::fuzzerTestOneInput, XmlTarget.seeds())));

  private FuzzTargets() {}

  /** Writes the seeds of each target into a folder of its name. */
  public static void main(String[] arguments) throws IOException {
    for (Map.Entry<String, Target> target : ALL.entrySet()) {
      Path folder = Files.createDirectories(Path.of(arguments[0], target.getKey()));
      List<byte[]> seeds = target.getValue().seeds();
      for (int i = 0; i < seeds.size(); i++) {
        Files.write(folder.resolve("seed-" + i), seeds.get(i));
      }
    }
  }
}
