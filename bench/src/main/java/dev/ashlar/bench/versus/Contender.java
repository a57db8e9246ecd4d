package dev.ashlar.bench.versus;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A server that takes part. */
sealed interface Contender {
  String title();

  /** One that runs already, on whichever drives in whichever way. */
  record Endpoint(String title, S3Target target) implements Contender {}

  /** One that is started for each work anew, with six drive folders in 4+2. */
  sealed interface Started extends Contender {
    String ACCESS_KEY = "benchmark";
    String SECRET_KEY = "benchmark-secret";
    String HOST = "127.0.0.1";
    int DRIVES = 6;

    /** The command line and environment that serve the folder on the port. */
    Launch launch(Path folder, int port, int managementPort) throws IOException;
  }

  /**
   * @param health answers 200 when the server is ready
   */
  record Launch(List<String> command, Map<String, String> environment, URI health) {}

  record Ashlar(Path launcher, int metadataFolders) implements Started {
    @Override
    public String title() {
      return "Ashlar, metadata ×" + metadataFolders;
    }

    @Override
    public Launch launch(Path folder, int port, int managementPort) {
      String metadata =
          metadataFolders == 1 ? folder + "/m1" : folder + "/m{1..." + metadataFolders + "}";
      return new Launch(
          List.of(
              launcher.toString(),
              "server",
              "--data",
              folder + "/d{1..." + DRIVES + "}",
              "--metadata",
              metadata,
              "--profile",
              "4+2",
              "--listen",
              HOST + ":" + port,
              "--management-listen",
              HOST + ":" + managementPort),
          Map.of("ASHLAR_ACCESS_KEY", ACCESS_KEY, "ASHLAR_SECRET_KEY", SECRET_KEY),
          URI.create("http://" + HOST + ":" + managementPort + "/health"));
    }
  }

  record Minio(Path binary) implements Started {
    @Override
    public String title() {
      return "MinIO";
    }

    @Override
    public Launch launch(Path folder, int port, int managementPort) throws IOException {
      for (int drive = 1; drive <= DRIVES; drive++) {
        Files.createDirectories(folder.resolve("d" + drive));
      }
      return new Launch(
          List.of(
              binary.toString(),
              "server",
              "--quiet",
              "--address",
              HOST + ":" + port,
              folder + "/d{1..." + DRIVES + "}"),
          Map.of(
              "MINIO_ROOT_USER", ACCESS_KEY,
              "MINIO_ROOT_PASSWORD", SECRET_KEY,
              "MINIO_STORAGE_CLASS_STANDARD", "EC:2",
              "MINIO_BROWSER", "off",
              "MINIO_UPDATE", "off",
              // Lets folders of one disk, even the system's, pass for drives.
              "MINIO_CI_CD", "1"),
          // Its "ready" already answers while buckets and credentials are still being loaded.
          URI.create("http://" + HOST + ":" + port + "/minio/health/cluster"));
    }
  }
}
