package dev.ashlar.it.harness;

import dev.ashlar.protocol.model.Profile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How a server is started.
 *
 * @param name names its folders and its log
 * @param drives number of drive folders
 * @param metadataFolders 1, 3 or 5
 * @param profile data shards + parity shards
 * @param stripeUnit bytes of one strip
 * @param options others of the server
 * @param javaOptions beyond those of the launcher
 */
public record ServerSpec(
    String name,
    int drives,
    int metadataFolders,
    String profile,
    int stripeUnit,
    List<String> options,
    String javaOptions) {
  public ServerSpec(String name, int drives, int metadataFolders, String profile, int stripeUnit) {
    this(name, drives, metadataFolders, profile, stripeUnit, List.of(), Launch.SHORT_LIFE);
  }

  public static ServerSpec named(String name) {
    return new ServerSpec(name, 6, 1, "4+2", 16 << 10);
  }

  public ServerSpec withMetadataFolders(int count) {
    return new ServerSpec(name, drives, count, profile, stripeUnit, options, javaOptions);
  }

  /** With only the launcher's options for Java, as where a server runs for long. */
  public ServerSpec withLongLife() {
    return withJavaOptions("");
  }

  public ServerSpec withJavaOptions(String javaOptions) {
    return new ServerSpec(name, drives, metadataFolders, profile, stripeUnit, options, javaOptions);
  }

  public ServerSpec withOptions(String... options) {
    return new ServerSpec(
        name, drives, metadataFolders, profile, stripeUnit, List.of(options), javaOptions);
  }

  /** m of its profile: so many drives may be lost. */
  public int parityShards() {
    return Profile.parse(profile, stripeUnit).parityShards();
  }

  List<Path> driveFolders(Path root) {
    return folders(root, "d", drives);
  }

  List<Path> metadataFolders(Path root) {
    return folders(root, "m", metadataFolders);
  }

  List<String> arguments(Path root, int port, int managementPort) {
    List<String> arguments = new ArrayList<>();
    arguments.add("server");
    arguments.addAll(List.of("--data", root + "/d{1..." + drives + "}"));
    arguments.addAll(List.of("--metadata", root + "/m{1..." + metadataFolders + "}"));
    arguments.addAll(List.of("--profile", profile, "--stripe-unit", "" + stripeUnit));
    arguments.addAll(List.of("--listen", "http://127.0.0.1:" + port));
    arguments.addAll(List.of("--management-listen", "http://127.0.0.1:" + managementPort));
    arguments.addAll(options);
    return arguments;
  }

  private static List<Path> folders(Path root, String prefix, int count) {
    return IntStream.rangeClosed(1, count).mapToObj(n -> root.resolve(prefix + n)).toList();
  }
}
