package dev.ashlar.bench.versus;

import dev.ashlar.bench.process.Launch;
import dev.ashlar.bench.process.S3Endpoint;
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
  record Endpoint(String title, S3Endpoint target) implements Contender {}

  /** One that is started for each work anew, with six drive folders in 4+2. */
  sealed interface Started extends Contender {
    int DRIVES = 6;

    /** The command line and environment that serve the folder on the port. */
    Launch launch(Path folder, int port, int managementPort) throws IOException;
  }

  record Ashlar(Launch.Ashlar form) implements Started {
    static Ashlar of(Path launcher, int metadataFolders) {
      return new Ashlar(new Launch.Ashlar(launcher, "4+2", DRIVES, metadataFolders));
    }

    @Override
    public String title() {
      return "Ashlar, metadata ×" + form.metadataFolders();
    }

    @Override
    public Launch launch(Path folder, int port, int managementPort) {
      return form.in(folder, port, managementPort);
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
          title(),
          List.of(
              binary.toString(),
              "server",
              "--quiet",
              "--address",
              Launch.HOST + ":" + port,
              folder + "/d{1..." + DRIVES + "}"),
          Map.of(
              "MINIO_ROOT_USER", Launch.ACCESS_KEY,
              "MINIO_ROOT_PASSWORD", Launch.SECRET_KEY,
              "MINIO_STORAGE_CLASS_STANDARD", "EC:2",
              "MINIO_BROWSER", "off",
              "MINIO_UPDATE", "off",
              // Lets folders of one disk, even the system's, pass for drives.
              "MINIO_CI_CD", "1"),
          // Its "ready" already answers while buckets and credentials are still being loaded.
          URI.create("http://" + Launch.HOST + ":" + port + "/minio/health/cluster"));
    }
  }
}
