package dev.ashlar.server.config;

import dev.ashlar.protocol.wire.ClusterSecret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a process that is one of a cluster. */
public final class ClusterFlags {
  public static final String SECRET_VARIABLE = "ASHLAR_CLUSTER_SECRET";
  private static final String LISTEN = "127.0.0.1:9002";
  private static final String OUT_AFTER = "600";

  @Option(
      names = "--roles",
      paramLabel = "ROLES",
      split = ",",
      defaultValue = "${env:ASHLAR_ROLES:-gateway,storage,metadata}",
      description = "Of a cluster: what this process does.")
  private Set<ServerRole> roles = EnumSet.allOf(ServerRole.class);

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_CLUSTER:-}",
      showDefaultValue = Visibility.NEVER,
      description =
          "The cluster that this process is part of. Without it, this process is the whole store.")
  private String cluster = "";

  @Option(
      names = "--cluster-secret-file",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CLUSTER_SECRET_FILE}",
      showDefaultValue = Visibility.NEVER,
      description =
          "What all processes of the cluster know and nobody else, at least 16 bytes; or in the"
              + " environment as "
              + SECRET_VARIABLE
              + ".")
  private @Nullable Path secretFile;

  @Option(
      names = "--node",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_NODE:-}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Of this process, its own for ever: its drives belong to it. Default: the host's name.")
  private String node = "";

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = "${env:ASHLAR_HOST:-}",
      showDefaultValue = Visibility.NEVER,
      description = "Where the other processes reach this one. Default: the node's name.")
  private String host = "";

  @Option(
      names = "--metadata-nodes",
      paramLabel = "HOST:PORT",
      split = ",",
      converter = Address.Converter.class,
      defaultValue = "${env:ASHLAR_METADATA_NODES}",
      showDefaultValue = Visibility.NEVER,
      description = "The 1, 3 or 5 metadata nodes, the same list in all processes.")
  private List<Address> metadataNodes = List.of();

  @Option(
      names = "--metadata-join",
      arity = "0..1",
      fallbackValue = "true",
      defaultValue = "${env:ASHLAR_METADATA_JOIN:-false}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Of a metadata node whose folder is empty: it waits to be added to the group that"
              + " --metadata-nodes names, by 'ashlar admin metadata', and begins none of its own.")
  private boolean metadataJoin;

  @Option(
      names = "--cluster-listen",
      paramLabel = "HOST:PORT",
      converter = Address.Converter.class,
      defaultValue = "${env:ASHLAR_CLUSTER_LISTEN:-" + LISTEN + "}",
      description = "Where the cluster reaches this storage or metadata node.")
  private Address clusterListen = Address.parse(LISTEN);

  @Option(
      names = "--rack",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_RACK:-}",
      showDefaultValue = Visibility.NEVER,
      description = "The rack of a storage node.")
  private String rack = "";

  @Option(
      names = "--zone",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_ZONE:-}",
      showDefaultValue = Visibility.NEVER,
      description = "The zone of a storage node.")
  private String zone = "";

  @Option(
      names = "--expect-drives",
      paramLabel = "COUNT",
      defaultValue = "${env:ASHLAR_EXPECT_DRIVES:-0}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Drives of all storage nodes together with which a new cluster begins; storage nodes need"
              + " it until then.")
  private int expectedDrives;

  @Option(
      names = "--out-after",
      paramLabel = "SECONDS",
      defaultValue = "${env:ASHLAR_OUT_AFTER:-" + OUT_AFTER + "}",
      description =
          "A drive that has been down for so long is taken out: what it had is rebuilt on others."
              + " Of gateways.")
  private int outAfterSeconds;

  @Option(
      names = "--credentials",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CREDENTIALS}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Of a cluster's gateways, unless in the environment: ASHLAR_ACCESS_KEY and"
              + " ASHLAR_SECRET_KEY, each in a line with its value behind '='. Of others only for"
              + " who starts a scrub there.")
  private @Nullable Path credentials;

  @Mixin private final TlsFlags tls = new TlsFlags();

  /**
   * What the cluster is told of this process; null when there is none.
   *
   * @throws IllegalArgumentException when something is missing, or makes sense in a cluster only
   */
  public @Nullable ClusterOptions options(Map<String, String> environment) {
    if (cluster.isBlank()) {
      checkNothingOfACluster(environment);
      return null;
    }
    String name = node.isBlank() ? hostName() : node;
    return new ClusterOptions(
        cluster,
        secret(environment),
        roles,
        name,
        host.isBlank() ? name : host,
        metadataNodes,
        metadataJoin,
        clusterListen,
        rack,
        zone,
        expectedDrives,
        Duration.ofSeconds(outAfterSeconds),
        credentials,
        tls.files());
  }

  private void checkNothingOfACluster(Map<String, String> environment) {
    Map<String, Boolean> given = new LinkedHashMap<>();
    given.put("--roles", roles.size() < ServerRole.values().length);
    given.put("--metadata-nodes", !metadataNodes.isEmpty());
    given.put("--metadata-join", metadataJoin);
    given.put("--cluster-secret-file", secretFile != null);
    given.put("--cluster-tls-cert", tls.isGiven());
    // A whole machine may have these in its environment, for other processes or commands.
    Map<String, Boolean> own = new LinkedHashMap<>();
    own.put("--credentials", credentials != null);
    own.put("--node", !node.isBlank());
    own.put("--host", !host.isBlank());
    own.put("--cluster-listen", !clusterListen.equals(Address.parse(LISTEN)));
    own.put("--rack", !rack.isBlank());
    own.put("--zone", !zone.isBlank());
    own.put("--expect-drives", expectedDrives != 0);
    own.put("--out-after", outAfterSeconds != Integer.parseInt(OUT_AFTER));
    own.keySet().removeIf(option -> environment.containsKey(ConfigFile.variable(option)));
    given.putAll(own);
    for (Map.Entry<String, Boolean> option : given.entrySet()) {
      if (option.getValue()) {
        throw new IllegalArgumentException(
            option.getKey() + " needs a cluster: name it with --cluster");
      }
    }
  }

  private ClusterSecret secret(Map<String, String> environment) {
    String value = environment.getOrDefault(SECRET_VARIABLE, "");
    Path file = secretFile;
    if (value.isBlank() == (file == null)) {
      throw new IllegalArgumentException(
          "a process of a cluster needs its secret: --cluster-secret-file or "
              + SECRET_VARIABLE
              + ", one of them");
    }
    try {
      String text = file == null ? value : Files.readString(file);
      return new ClusterSecret(text.strip().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IllegalArgumentException("--cluster-secret-file cannot be read: " + e, e);
    }
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("this host has no name: say --node", e);
    }
  }
}
