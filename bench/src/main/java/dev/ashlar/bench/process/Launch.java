package dev.ashlar.bench.process;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How a server is started.
 *
 * @param title what it is called in messages
 * @param health answers 200 when the server is ready
 */
public record Launch(
    String title, List<String> command, Map<String, String> environment, URI health) {
  public static final String HOST = "127.0.0.1";
  public static final String ACCESS_KEY = "benchmark";
  public static final String SECRET_KEY = "benchmark-secret";

  /** With these variables as well. */
  public Launch with(Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(variables);
    return new Launch(title, command, all, health);
  }

  /**
   * Which of Ashlar's forms.
   *
   * @param launcher the script {@code ashlar}
   * @param drives folders for data
   * @param metadataFolders one, three or five
   */
  public record Ashlar(Path launcher, String profile, int drives, int metadataFolders) {
    public Ashlar {
      if (!Files.isExecutable(launcher)) {
        throw new BenchException("There is no launcher at " + launcher + "; name it by --ashlar.");
      }
    }

    /** With all its folders in this one. */
    public Launch in(Path folder, int port, int managementPort) {
      String metadata =
          metadataFolders == 1 ? folder + "/m1" : folder + "/m{1..." + metadataFolders + "}";
      return new Launch(
          "Ashlar",
          List.of(
              launcher.toAbsolutePath().toString(),
              "server",
              "--data",
              folder + "/d{1..." + drives + "}",
              "--metadata",
              metadata,
              "--profile",
              profile,
              "--listen",
              HOST + ":" + port,
              "--management-listen",
              HOST + ":" + managementPort),
          Map.of("ASHLAR_ACCESS_KEY", ACCESS_KEY, "ASHLAR_SECRET_KEY", SECRET_KEY),
          URI.create("http://" + HOST + ":" + managementPort + "/health"));
    }
  }
}
