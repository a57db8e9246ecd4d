package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.transport.Endpoint;
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
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** A process as a member of a cluster. */
public final class ClusterOptions {
  public static final String SECRET_VARIABLE = "ASHLAR_CLUSTER_SECRET";
  private static final String LISTEN = "127.0.0.1:9002";
  private static final String OUT_AFTER = "600";

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      defaultValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "Name of the cluster to join. Without it, this process is the whole store.")
  private String name = "";

  @Option(
      names = "--cluster-secret-file",
      paramLabel = "FILE",
      description =
          "File with the secret shared by all processes of the cluster: at least 16 bytes."
              + " Alternative: the environment variable "
              + SECRET_VARIABLE
              + ".")
  private @Nullable Path secretFile;

  @Option(
      names = "--roles",
      paramLabel = "ROLES",
      split = ",",
      defaultValue = "gateway,storage,metadata",
      description = "Roles of this process (cluster only).")
  private Set<ServerRole> roles = EnumSet.allOf(ServerRole.class);

  @Option(
      names = "--node",
      paramLabel = "NAME",
      defaultValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "Permanent name of this node. Drives are bound to it. Default: the host name.")
  private String node = "";

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "Host under which other processes reach this one. Default: the node name.")
  private String host = "";

  @Option(
      names = "--cluster-listen",
      paramLabel = "HOST:PORT",
      converter = OptionTypes.HostPort.class,
      defaultValue = LISTEN,
      description = "Address on which a storage or metadata node listens for the cluster.")
  private Endpoint clusterListen = Endpoint.parse(LISTEN);

  @Option(
      names = "--metadata-nodes",
      paramLabel = "HOST:PORT",
      split = ",",
      converter = OptionTypes.HostPort.class,
      description = "The 1, 3 or 5 metadata nodes; the same list in all processes.")
  private List<Endpoint> metadataNodes = List.of();

  @Option(
      names = "--metadata-join",
      arity = "0..1",
      fallbackValue = "true",
      defaultValue = "false",
      showDefaultValue = Visibility.NEVER,
      description =
          "Start a metadata node with an empty folder that waits to be added to the Raft group of"
              + " --metadata-nodes by 'ashlar admin metadata add'.")
  private boolean joinsMetadata;

  @Option(
      names = "--rack",
      paramLabel = "NAME",
      defaultValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "Rack of a storage node.")
  private String rack = "";

  @Option(
      names = "--zone",
      paramLabel = "NAME",
      defaultValue = "",
      showDefaultValue = Visibility.NEVER,
      description = "Zone of a storage node.")
  private String zone = "";

  @Option(
      names = "--expect-drives",
      paramLabel = "COUNT",
      defaultValue = "0",
      showDefaultValue = Visibility.NEVER,
      description =
          "Number of drives of all storage nodes with which a new cluster starts. Storage nodes"
              + " need it until then.")
  private int expectedDrives;

  @Option(
      names = "--out-after",
      paramLabel = "SECONDS",
      defaultValue = OUT_AFTER,
      description =
          "Take a drive out and rebuild its data elsewhere when it has been down for this long"
              + " (gateways).")
  private int outAfterSeconds;

  @Option(
      names = "--credentials",
      paramLabel = "FILE",
      description =
          "File with the root credentials, if they are not in the environment: ASHLAR_ACCESS_KEY="
              + " and ASHLAR_SECRET_KEY=, one per line. Required for gateways; other processes need"
              + " it to authenticate scrub requests.")
  private @Nullable Path credentials;

  private @Nullable ClusterSecret secret;

  /** Whether this process is a member of a cluster. */
  boolean isGiven() {
    return !name.isBlank();
  }

  /**
   * Completes what has not been given, and checks everything.
   *
   * @throws IllegalArgumentException naming the option
   */
  void check(Map<String, String> environment) {
    secret = secret(environment);
    node = node.isBlank() ? hostName() : node;
    host = host.isBlank() ? node : host;
    require(!roles.isEmpty(), "--roles names none of gateway, storage and metadata");
    require(outAfter().isPositive(), "--out-after takes a number of seconds");
    require(expectedDrives >= 0, "--expect-drives takes a number of drives");
    checkMetadataNodes();
  }

  private void checkMetadataNodes() {
    int peers = metadataNodes.size();
    require(
        peers == 1 || peers == 3 || peers == 5,
        "--metadata-nodes takes 1, 3 or 5 HOST:PORT, the same in all processes of the cluster, not"
            + " %s",
        peers);
    require(
        metadataNodes.stream().distinct().count() == peers,
        "--metadata-nodes names a node twice: %s",
        metadataNodes);
    require(clusterListen.port() != 0, "--cluster-listen needs a fixed port");
    boolean isMetadata = has(ServerRole.METADATA);
    require(isMetadata || !joinsMetadata, "--metadata-join is for metadata nodes");
    require(
        !isMetadata || joinsMetadata || metadataNodes.contains(address()),
        "this metadata node is %s:%s by --host and --cluster-listen, which --metadata-nodes does"
            + " not name: %s",
        host,
        clusterListen.port(),
        metadataNodes);
  }

  /**
   * Refuses options that have no effect without a cluster. Some of them may be in the environment
   * of a whole machine, for other processes and commands.
   */
  void checkNotGiven(Map<String, String> environment, boolean isTlsGiven) {
    Map<String, Boolean> elsewhere = new LinkedHashMap<>();
    elsewhere.put("--credentials", credentials != null);
    elsewhere.put("--node", !node.isBlank());
    elsewhere.put("--host", !host.isBlank());
    elsewhere.put("--cluster-listen", !clusterListen.equals(Endpoint.parse(LISTEN)));
    elsewhere.put("--rack", !rack.isBlank());
    elsewhere.put("--zone", !zone.isBlank());
    elsewhere.put("--expect-drives", expectedDrives != 0);
    elsewhere.put("--out-after", outAfterSeconds != Integer.parseInt(OUT_AFTER));
    elsewhere.keySet().removeIf(name -> environment.containsKey(OptionSources.variable(name)));
    Map<String, Boolean> given = new LinkedHashMap<>();
    given.put("--roles", roles.size() < ServerRole.values().length);
    given.put("--metadata-nodes", !metadataNodes.isEmpty());
    given.put("--metadata-join", joinsMetadata);
    given.put("--cluster-secret-file", secretFile != null);
    given.put("--cluster-tls-cert", isTlsGiven);
    given.putAll(elsewhere);
    given.forEach(
        (option, isGiven) ->
            require(!isGiven, "%s needs a cluster: name it with --cluster", option));
  }

  private ClusterSecret secret(Map<String, String> environment) {
    String value = environment.getOrDefault(SECRET_VARIABLE, "");
    Path file = secretFile;
    require(
        value.isBlank() != (file == null),
        "a process of a cluster needs its secret: give either --cluster-secret-file or "
            + SECRET_VARIABLE);
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
      throw new IllegalArgumentException("this host has no name: use --node", e);
    }
  }

  public String name() {
    return name;
  }

  /** Identifies the cluster to drives, metadata and connections. */
  public UUID id() {
    return UUID.nameUUIDFromBytes(("ashlar cluster " + name).getBytes(StandardCharsets.UTF_8));
  }

  public ClusterSecret secret() {
    return Objects.requireNonNull(secret);
  }

  public Set<ServerRole> roles() {
    return roles;
  }

  public boolean has(ServerRole role) {
    return roles.contains(role);
  }

  /** Whether other processes connect to this one. */
  public boolean isServing() {
    return has(ServerRole.STORAGE) || has(ServerRole.METADATA);
  }

  public String node() {
    return node;
  }

  public String host() {
    return host;
  }

  public Endpoint clusterListen() {
    return clusterListen;
  }

  /** Where other processes reach this one. */
  public Endpoint address() {
    return new Endpoint(host, clusterListen.port());
  }

  public List<Endpoint> metadataNodes() {
    return metadataNodes;
  }

  /** Whether a metadata node with an empty folder waits to be added to the Raft group. */
  public boolean joinsMetadata() {
    return joinsMetadata;
  }

  /** Empty if not given. */
  public String rack() {
    return rack;
  }

  /** Empty if not given. */
  public String zone() {
    return zone;
  }

  /** The number of drives for the first placement map; 0 if not given. */
  public int expectedDrives() {
    return expectedDrives;
  }

  /** How long a drive is down before it is taken out. */
  public Duration outAfter() {
    return Duration.ofSeconds(outAfterSeconds);
  }

  /** Null if they are in the environment. */
  public @Nullable Path credentials() {
    return credentials;
  }
}
