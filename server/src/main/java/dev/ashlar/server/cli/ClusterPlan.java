package dev.ashlar.server.cli;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.server.config.DurableFile;
import dev.ashlar.server.config.OwnMasterKey;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A cluster on one machine: which processes it has, on which ports, with which files. It is kept in
 * the cluster's folder, and goes on as it began.
 *
 * @param port of the first gateway; the other ports follow from it
 */
record ClusterPlan(
    Path folder, int storageNodes, int metadataNodes, int gateways, String profile, int port) {
  private static final String FILE = "cluster.properties";
  private static final String SECRET_FILE = "secret";
  private static final String CREDENTIALS_FILE = "credentials";
  private static final String MASTER_KEY_FILE = "master-key-file";
  private static final String HOST = "127.0.0.1";
  private static final int PROCESSES_MAX = 100;
  private static final int MANAGEMENT_PORTS = 100;
  private static final int CLUSTER_PORTS = 200;

  ClusterPlan {
    require(
        metadataNodes == 1 || metadataNodes == 3 || metadataNodes == 5,
        "--metadata takes 1, 3 or 5, not %s",
        metadataNodes);
    require(storageNodes >= 1 && gateways >= 1, "a cluster has at least one node of each kind");
    require(
        storageNodes + metadataNodes + gateways <= PROCESSES_MAX,
        "at most %s processes",
        PROCESSES_MAX);
    require(
        port >= 1024 && port + CLUSTER_PORTS + PROCESSES_MAX <= 65536,
        "--port %s leaves no room for the ports behind",
        port);
  }

  /** What somebody asks for; null: as it was, or as it is usual. */
  record Wish(
      @Nullable Integer storageNodes,
      @Nullable Integer metadataNodes,
      @Nullable Integer gateways,
      @Nullable String profile,
      @Nullable Integer port) {}

  /**
   * One of the processes.
   *
   * @param index among all of them, from 0
   */
  record Member(String name, ServerRole role, int index, ClusterPlan plan) {
    Path folder() {
      return plan.folder().resolve(name);
    }

    Path config() {
      return folder().resolve("ashlar.properties");
    }

    Path log() {
      return folder().resolve("log");
    }

    Endpoint listen() {
      return new Endpoint(HOST, plan.port() + index);
    }

    Endpoint management() {
      return new Endpoint(HOST, plan.port() + MANAGEMENT_PORTS + index);
    }

    Endpoint clusterListen() {
      return new Endpoint(HOST, plan.port() + CLUSTER_PORTS + index);
    }
  }

  /**
   * The plan of this folder, which is made if there is none.
   *
   * @throws IllegalArgumentException when the folder's cluster is another one than asked for
   */
  static ClusterPlan of(Path folder, Wish wish) throws IOException {
    Path file = folder.resolve(FILE);
    Properties kept = read(file);
    ClusterPlan plan =
        new ClusterPlan(
            folder,
            number("nodes", wish.storageNodes(), kept, 6),
            number("metadata", wish.metadataNodes(), kept, 3),
            number("gateways", wish.gateways(), kept, 1),
            value("profile", wish.profile(), kept, "4+2"),
            number("port", wish.port(), kept, 9000));
    plan.write(file);
    return plan;
  }

  /** What is in this file; nothing if it is not there. */
  private static Properties read(Path file) throws IOException {
    Properties read = new Properties();
    if (Files.exists(file)) {
      try (var reader = Files.newBufferedReader(file)) {
        read.load(reader);
      }
    }
    return read;
  }

  private static int number(String name, @Nullable Integer wish, Properties kept, int usual) {
    String wished = wish == null ? null : wish.toString();
    return Integer.parseInt(value(name, wished, kept, Integer.toString(usual)));
  }

  private static String value(String name, @Nullable String wish, Properties kept, String usual) {
    String present = kept.getProperty(name);
    require(
        wish == null || present == null || wish.equals(present),
        "the cluster in this folder was made with --%s %s, not %s",
        name,
        String.valueOf(present),
        String.valueOf(wish));
    return present != null ? present : wish != null ? wish : usual;
  }

  private void write(Path file) throws IOException {
    Properties all = new Properties();
    all.setProperty("nodes", Integer.toString(storageNodes));
    all.setProperty("metadata", Integer.toString(metadataNodes));
    all.setProperty("gateways", Integer.toString(gateways));
    all.setProperty("profile", profile);
    all.setProperty("port", Integer.toString(port));
    store(file, all);
  }

  private static void store(Path file, Properties properties) throws IOException {
    StringWriter text = new StringWriter();
    properties.store(text, null);
    DurableFile.write(file, text.toString(), "rw-------");
  }

  /** Gateways first, then metadata, then storage. */
  List<Member> processes() {
    List<Member> all = new ArrayList<>();
    add(ServerRole.GATEWAY, gateways, all);
    add(ServerRole.METADATA, metadataNodes, all);
    add(ServerRole.STORAGE, storageNodes, all);
    return all;
  }

  private void add(ServerRole role, int count, List<Member> all) {
    for (int number = 1; number <= count; number++) {
      String name = role.name().toLowerCase(Locale.ROOT) + "-" + number;
      all.add(new Member(name, role, all.size(), this));
    }
  }

  Path credentials() {
    return folder.resolve(CREDENTIALS_FILE);
  }

  /**
   * Writes the secret, the master key and the credentials, if there are none, and what each process
   * is to do.
   *
   * @param tls that all processes use with each other; null: none
   * @param certificates of the S3 ports and the management ports; none: no TLS
   * @throws IllegalArgumentException if the master key was there, and is not any more
   */
  RootCredential prepare(@Nullable TlsFiles tls, List<CertificateFiles> certificates)
      throws IOException {
    Path secret = folder.resolve(SECRET_FILE);
    if (!Files.exists(secret)) {
      DurableFile.write(secret, RootCredential.randomText(43) + "\n", "rw-------");
    }
    keepMasterKey();
    for (Member process : processes()) {
      Properties properties = properties(process, secret, tls);
      if (!certificates.isEmpty()) {
        properties.setProperty("tls-cert", paths(certificates, CertificateFiles::certificates));
        properties.setProperty("tls-key", paths(certificates, CertificateFiles::key));
      }
      store(process.config(), properties);
    }
    return RootCredential.kept(credentials());
  }

  private Path masterKey() {
    return folder.resolve(OwnMasterKey.FILE);
  }

  /** Makes it for a folder whose gateways have had none, and so have encrypted nothing. */
  private void keepMasterKey() throws IOException {
    if (!Files.exists(masterKey())) {
      Properties gateway = read(processes().getFirst().config());
      require(
          gateway.getProperty(MASTER_KEY_FILE) == null,
          "%s is not there any more: put it back from its copy. If neither objects nor secrets of"
              + " access keys are encrypted with it, or it is lost for good, write a file with a"
              + " new master key there. Objects and access keys of the lost one are answered 503",
          masterKey());
    }
    List<Path> folders = List.of(folder);
    OwnMasterKey.find(folders, false).keep(folders);
  }

  private static String paths(
      List<CertificateFiles> files, Function<CertificateFiles, Path> which) {
    return files.stream().map(which).map(Path::toString).collect(Collectors.joining(","));
  }

  private Properties properties(Member process, Path secret, @Nullable TlsFiles tls) {
    Properties all = new Properties();
    all.setProperty("cluster", "local");
    all.setProperty("cluster-secret-file", secret.toString());
    all.setProperty("roles", process.role().name().toLowerCase(Locale.ROOT));
    all.setProperty("node", process.name());
    all.setProperty("host", HOST);
    all.setProperty("metadata-nodes", metadataAddresses());
    all.setProperty("cluster-listen", process.clusterListen().toString());
    all.setProperty("management-listen", process.management().toString());
    if (tls != null) {
      all.setProperty("cluster-tls-cert", tls.certificates().toString());
      all.setProperty("cluster-tls-key", tls.key().toString());
      all.setProperty("cluster-tls-ca", tls.authorities().toString());
    }
    switch (process.role()) {
      case GATEWAY -> {
        all.setProperty("listen", process.listen().toString());
        all.setProperty("credentials", credentials().toString());
        all.setProperty(MASTER_KEY_FILE, masterKey().toString());
      }
      case METADATA -> all.setProperty("metadata", process.folder().resolve("metadata").toString());
      case STORAGE -> {
        all.setProperty("data", process.folder().resolve("drive").toString());
        all.setProperty("profile", profile);
        all.setProperty("expect-drives", Integer.toString(storageNodes));
      }
    }
    return all;
  }

  private String metadataAddresses() {
    return processes().stream()
        .filter(process -> process.role() == ServerRole.METADATA)
        .map(process -> process.clusterListen().toString())
        .collect(Collectors.joining(","));
  }
}
