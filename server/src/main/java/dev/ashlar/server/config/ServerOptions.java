package dev.ashlar.server.config;

import static dev.ashlar.server.config.OptionTypes.require;

import dev.ashlar.protocol.model.Profile;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.TlsFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/**
 * The options of {@code ashlar server}. They are declared here and in the groups below, and nowhere
 * else: help, command line, environment and configuration file follow from the declarations.
 */
public final class ServerOptions {
  // OptionSources looks for it before all others.
  @SuppressWarnings("UnusedVariable")
  @Option(
      names = "--config",
      paramLabel = "FILE",
      showDefaultValue = Visibility.NEVER,
      description =
          "Properties file with options. The command line and the environment take precedence.")
  private @Nullable Path config;

  @ArgGroup(validate = false, heading = "%nData:%n")
  private DataOptions data = new DataOptions();

  @ArgGroup(validate = false, heading = "%nNetwork and S3:%n")
  private ServiceOptions service = new ServiceOptions();

  @ArgGroup(validate = false, heading = "%nTLS of the S3 port and the management port:%n")
  private TlsOptions tls = new TlsOptions();

  @ArgGroup(validate = false, heading = "%nEncryption:%n")
  private EncryptionOptions encryption = new EncryptionOptions();

  @ArgGroup(validate = false, heading = "%nLogs:%n")
  private LogOptions logs = new LogOptions();

  @ArgGroup(validate = false, heading = "%nOpenTelemetry:%n")
  private TelemetryOptions telemetry = new TelemetryOptions();

  @ArgGroup(validate = false, heading = "%nBackground work:%n")
  private BackgroundOptions background = new BackgroundOptions();

  @ArgGroup(validate = false, heading = "%nSizes:%n")
  private SizeOptions sizeOptions = new SizeOptions();

  @ArgGroup(validate = false, heading = "%nAs MinIO's server has it:%n")
  private MinioOptions minio = new MinioOptions();

  @ArgGroup(validate = false, heading = "%nCluster:%n")
  private ClusterOptions cluster = new ClusterOptions();

  @ArgGroup(validate = false, heading = "%nTLS between the processes of a cluster:%n")
  private ClusterTlsOptions clusterTls = new ClusterTlsOptions();

  private List<Path> dataFolders = List.of();
  private List<Path> metadataFolders = List.of();
  private @Nullable Profile profile;
  private @Nullable Sizes sizes;
  private @Nullable TlsFiles clusterTlsFiles;
  private List<CertificateFiles> certificates = List.of();

  /**
   * Options from arguments only, with this environment.
   *
   * @throws IllegalArgumentException if one is wrong; the message names it
   */
  public static ServerOptions parse(Map<String, String> environment, String... arguments) {
    ServerOptions options = new ServerOptions();
    CommandLine line = new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true);
    OptionSources.use(line, environment, arguments);
    line.parseArgs(arguments);
    options.check(environment);
    return options;
  }

  /**
   * Checks the options, and derives what depends on several of them.
   *
   * @throws IllegalArgumentException if one is wrong; the message names it
   */
  public void check(Map<String, String> environment) {
    useFoldersOfMinio();
    require(!service.region().isBlank(), "--region takes a name");
    data.check();
    telemetry.check();
    encryption.check();
    if (has(ServerRole.GATEWAY)) {
      encryption.checkKeys(environment, !cluster.isGiven());
    }
    background.check();
    sizeOptions.check();
    if (cluster.isGiven()) {
      cluster.check(environment);
    } else {
      cluster.checkNotGiven(environment, clusterTls.isGiven());
    }
    clusterTlsFiles = clusterTls.files();
    certificates = tls.certificates();
    service.check(!certificates.isEmpty(), has(ServerRole.GATEWAY));
    require(
        !background.hasShortDays() || service.listensOnLoopback(),
        "--lifecycle-day is for tests: with it, --listen takes loopback addresses only");
    dataFolders = has(ServerRole.STORAGE) ? data.dataFolders() : List.of();
    Profile parsed = data.profile(cluster.isGiven() ? Integer.MAX_VALUE : dataFolders.size());
    profile = parsed;
    sizes = Sizes.of(Machine.ofProcess(), sizeOptions, dataFolders.size());
    metadataFolders = has(ServerRole.METADATA) ? metadataFolders(parsed) : List.of();
    if (cluster.isGiven()) {
      checkMember(parsed);
    } else {
      checkSingleProcess(parsed);
    }
  }

  /**
   * What this process is configured with.
   *
   * @param given the options as they were given
   */
  public List<Setting> settings(List<Setting> given, Map<String, String> environment) {
    List<Setting> settings = sizes().settings(given, environment);
    settings.replaceAll(this::derived);
    return settings;
  }

  private Setting derived(Setting option) {
    boolean isDefault = option.from().equals(Setting.DEFAULT);
    return switch (option.name()) {
      case "--profile" ->
          isDefault ? new Setting(option.name(), "", "the data, see status") : option;
      case "--data" ->
          minio.folders().isEmpty()
              ? option
              : new Setting(option.name(), minio.folders(), Setting.COMMAND_LINE);
      case "--any-region" ->
          isDefault && service.acceptsAnyRegion()
              ? new Setting(option.name(), "true", Setting.DERIVED)
              : option;
      case "--kms-keys" -> {
        String id = encryption.kmsKeyOfMinio();
        yield id == null
            ? option
            : new Setting(
                option.name(), "key " + id, OptionSources.inEnvironment(MinioKmsKey.VARIABLE));
      }
      default -> option;
    };
  }

  private void useFoldersOfMinio() {
    String folders = minio.folders();
    if (folders.isEmpty()) {
      return;
    }
    data.useFolders(folders);
    service.serveAsMinio();
  }

  private List<Path> metadataFolders(Profile parsed) {
    List<Path> given = data.metadataFolders();
    return given.isEmpty() && !cluster.isGiven()
        ? MetadataFolders.choose(dataFolders, parsed)
        : given;
  }

  private void checkSingleProcess(Profile parsed) {
    require(
        dataFolders.size() >= parsed.shards(),
        "profile %s needs at least %s drive folders, --data names %s",
        parsed,
        parsed.shards(),
        dataFolders.size());
    int peers = metadataFolders.size();
    require(
        peers == 1 || peers == 3 || peers == 5,
        "--metadata takes 1, 3 or 5 folders, not %s",
        peers);
  }

  private void checkMember(Profile parsed) {
    require(
        !has(ServerRole.METADATA) || metadataFolders.size() == 1,
        "a metadata node of a cluster has one folder: --metadata names %s",
        metadataFolders.size());
    int expected = cluster.expectedDrives();
    require(
        !has(ServerRole.STORAGE) || expected <= 0 || expected >= parsed.shards(),
        "profile %s needs more than the --expect-drives %s",
        parsed,
        expected);
  }

  /** Whether this process has the role; a store in one process has all roles. */
  public boolean has(ServerRole role) {
    return !cluster.isGiven() || cluster.has(role);
  }

  public DataOptions data() {
    return data;
  }

  public ServiceOptions service() {
    return service;
  }

  public EncryptionOptions encryption() {
    return encryption;
  }

  public LogOptions logs() {
    return logs;
  }

  public TelemetryOptions telemetry() {
    return telemetry;
  }

  public BackgroundOptions background() {
    return background;
  }

  /** Null: this process is the whole store. */
  public @Nullable ClusterOptions cluster() {
    return cluster.isGiven() ? cluster : null;
  }

  /** TLS between the processes of the cluster; null: none. */
  public @Nullable TlsFiles clusterTls() {
    return clusterTlsFiles;
  }

  /** Certificates of the S3 port and the management port; none: they do not use TLS. */
  public List<CertificateFiles> certificates() {
    return certificates;
  }

  /** One folder per drive; empty without the role of a storage node. */
  public List<Path> dataFolders() {
    return dataFolders;
  }

  /** 1, 3 or 5 folders; one on a metadata node of a cluster. */
  public List<Path> metadataFolders() {
    return metadataFolders;
  }

  /** Of new data; a store that has data keeps its own. */
  public Profile profile() {
    return Objects.requireNonNull(profile);
  }

  /** Whether data that was made so is what the options ask for. */
  public boolean allow(Profile present) {
    return data.allow(present);
  }

  /** How large the parts of this process are. */
  public Sizes sizes() {
    return Objects.requireNonNull(sizes);
  }
}
