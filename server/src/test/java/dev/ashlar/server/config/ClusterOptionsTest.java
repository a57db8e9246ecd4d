package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterOptionsTest {
  private static final Map<String, String> SECRET =
      Map.of(ClusterOptions.SECRET_VARIABLE, "sixteen bytes or more");

  @TempDir private Path folder;

  private static @Nullable ClusterOptions parse(
      Map<String, String> environment, String... arguments) {
    return server(environment, arguments).cluster();
  }

  /** With a folder for the metadata role, which is among the default roles. */
  private static ServerOptions server(Map<String, String> environment, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--metadata=m");
    return ServerOptions.parse(environment, all.toArray(new String[0]));
  }

  private static ClusterOptions parsed(String... arguments) {
    ClusterOptions options = parse(SECRET, arguments);
    if (options == null) {
      throw new AssertionError("no cluster");
    }
    return options;
  }

  private static void assertRefused(
      String why, Map<String, String> environment, String... arguments) {
    String said =
        assertThrows(IllegalArgumentException.class, () -> parse(environment, arguments))
            .toString();
    assertTrue(said.contains(why), said);
  }

  @Test
  void withoutAClusterNothingIsOne() {
    assertNull(parse(Map.of()));
    assertNull(parse(SECRET));
    assertRefused("--roles needs a cluster", SECRET, "--roles", "gateway");
    assertRefused("--metadata-nodes needs a cluster", SECRET, "--metadata-nodes", "a:1");
  }

  /** Who gives credentials must not be served with others that were made up. */
  @Test
  void whatMeansNothingWithoutAClusterIsRefused() throws IOException {
    Map<String, String> options =
        Map.of(
            "credentials", "root",
            "node", "n",
            "host", "h",
            "cluster-listen", "127.0.0.1:9003",
            "rack", "r",
            "zone", "z",
            "expect-drives", "6",
            "out-after", "60");
    for (Map.Entry<String, String> option : options.entrySet()) {
      String name = "--" + option.getKey();
      String why = name + " needs a cluster: name it with --cluster";
      assertRefused(why, Map.of(), name, option.getValue());
      Path file = folder.resolve(option.getKey());
      Files.writeString(file, option.getKey() + "=" + option.getValue() + "\n");
      assertRefused(why, Map.of(), "--config", file.toString());
    }
    assertNull(parse(Map.of(), "--cluster-listen", "127.0.0.1:9002", "--out-after", "600"));
  }

  /** A process cannot have its environment changed: the values come as arguments. */
  @Test
  void whatAWholeMachineHasInItsEnvironmentIsNotRefused() {
    assertNull(parse(Map.of("ASHLAR_CREDENTIALS", "root"), "--credentials", "root"));
    assertNull(parse(Map.of("ASHLAR_OUT_AFTER", "60"), "--out-after", "60"));
  }

  @Test
  void whatIsMissingIsNamed() {
    List<String> all =
        List.of(
            "--cluster", "c", "--node", "n", "--metadata-nodes", "n:9002", "--roles", "storage");
    assertEquals("n", parsed(all.toArray(new String[0])).host());
    assertRefused("--cluster-secret-file", Map.of(), all.toArray(new String[0]));
    assertRefused(
        "at least 16 bytes",
        Map.of(ClusterOptions.SECRET_VARIABLE, "short"),
        all.toArray(new String[0]));
    assertRefused("--metadata-nodes takes 1, 3 or 5", SECRET, "--cluster", "c", "--node", "n");
    assertRefused(
        "--metadata-nodes does not name",
        SECRET,
        "--cluster",
        "c",
        "--node",
        "other",
        "--metadata-nodes",
        "n:9002");
  }

  @Test
  void aMetadataNodeIsOneOfTheList() {
    ClusterOptions options =
        parsed(
            "--cluster=c",
            "--node=m-1",
            "--host=m-1.service",
            "--roles=metadata",
            "--cluster-listen=0.0.0.0:9005",
            "--metadata-nodes=m-0.service:9005,m-1.service:9005,m-2.service:9005");
    assertEquals(Set.of(ServerRole.METADATA), options.roles());
    assertEquals(new Endpoint("m-1.service", 9005), options.address());
  }

  @Test
  void oneThatJoinsNeedNotBeInTheList() throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of("--cluster=c", "--node=m-3", "--roles=metadata", "--metadata-nodes=m-0:9002"));
    assertRefused("does not name", SECRET, all.toArray(new String[0]));
    all.add("--metadata-join");
    assertTrue(parsed(all.toArray(new String[0])).joinsMetadata());
    all.set(
        all.size() - 1, "--config=" + Files.writeString(folder.resolve("f"), "metadata-join=true"));
    assertTrue(parsed(all.toArray(new String[0])).joinsMetadata());
    all.set(2, "--roles=storage");
    assertRefused("--metadata-join is for metadata nodes", SECRET, all.toArray(new String[0]));
    assertRefused("--metadata-join needs a cluster", SECRET, "--metadata-join");
  }

  @Test
  void tlsIsGivenAsAWhole() {
    List<String> all = List.of("--cluster=c", "--node=n", "--metadata-nodes=n:9002");
    assertNull(server(SECRET, all.toArray(new String[0])).clusterTls());
    List<String> some = new ArrayList<>(all);
    some.addAll(List.of("--cluster-tls-cert=a.crt", "--cluster-tls-ca=ca.crt"));
    assertRefused("go together", SECRET, some.toArray(new String[0]));
    some.add("--cluster-tls-key=a.key");
    TlsFiles files = server(SECRET, some.toArray(new String[0])).clusterTls();
    if (files == null) {
      throw new AssertionError("no TLS");
    }
    assertEquals(Path.of("a.key").toAbsolutePath(), files.key());
    assertRefused("--cluster-tls-cert needs a cluster", SECRET, "--cluster-tls-key=a.key");
  }

  @Test
  void clustersOfDifferentNamesAreDifferent() {
    ClusterOptions one = parsed("--cluster=a", "--node=n", "--metadata-nodes=n:9002");
    ClusterOptions other = parsed("--cluster=b", "--node=n", "--metadata-nodes=n:9002");
    assertNotEquals(one.id(), other.id());
  }

  @Test
  void theFileComesLast() throws IOException {
    Path file = folder.resolve("ashlar.properties");
    Files.writeString(
        file,
        """
        # A comment
        cluster=of-the-file
        node=of-the-file
        rack=of-the-file
        metadata-nodes=m:9002
        roles=storage,gateway
        """);
    Map<String, String> environment = Map.of(ClusterOptions.SECRET_VARIABLE, "x".repeat(16));
    List<String> arguments = new ArrayList<>(List.of("--config", file.toString()));
    arguments.addAll(List.of("--node", "of-the-command-line"));
    ClusterOptions options = parse(environment, arguments.toArray(new String[0]));
    if (options == null) {
      throw new AssertionError("no cluster");
    }
    assertEquals("of-the-file", options.name());
    assertEquals("of-the-command-line", options.node());
    assertEquals("of-the-file", options.rack());
    assertEquals(Set.of(ServerRole.STORAGE, ServerRole.GATEWAY), options.roles());
  }

  @Test
  void whatTheFileMisspellsIsNamed() throws IOException {
    Path file = folder.resolve("ashlar.properties");
    Files.writeString(file, "clustre=c\n");
    assertRefused("there is no option clustre", SECRET, "--config", file.toString());
    assertRefused("cannot be read", SECRET, "--config", folder.resolve("none").toString());
  }
}
