package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.metadata.backup.MetadataRestore;
import dev.ashlar.protocol.process.SteadyClock;
import dev.ashlar.server.cli.Version;
import dev.ashlar.server.config.OptionSources;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.node.OfflineRestore;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code ashlar admin}: shows and changes a store through the management port of a gateway. */
@Command(
    name = "admin",
    description = "Shows the state of a store, and moves data off and onto its drives.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    scope = ScopeType.INHERIT,
    sortOptions = false,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      Nouns.Nodes.class,
      Nouns.Drives.class,
      Nouns.PlacementGroups.class,
      Nouns.Profiles.class,
      Nouns.Rebalance.class,
      Nouns.Scrub.class,
      Nouns.Metadata.class,
      Nouns.Encryption.class,
      Nouns.Buckets.class,
      Nouns.Accounts.class
    })
public final class AdminCommand implements Callable<Integer> {
  static final String WATCH = "Show the page again and again, with rates, until Ctrl-C.";
  static final String WATCH_UNTIL_DONE = "Show the progress until nothing is left to be done.";

  /** Objects have up to 5 TiB. */
  private static final Duration VERIFY_TIMEOUT = Duration.ofDays(1);

  private static final Duration VIEW_PAUSE = Duration.ofSeconds(2);
  private static final Duration PROGRESS_PAUSE = Duration.ofSeconds(1);

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--management",
      paramLabel = "ADDRESS",
      split = ",",
      scope = ScopeType.INHERIT,
      converter = OptionTypes.Address.class,
      defaultValue = "${env:ASHLAR_MANAGEMENT_LISTEN:-127.0.0.1:9001}",
      description =
          "Management port of a gateway: HOST:PORT, http://HOST:PORT or https://HOST:PORT; for"
              + " scrub, those of processes with drives, separated by commas. Other commands ask"
              + " the first. Without a scheme:"
              + " TLS if --ca is given or ASHLAR_TLS_CERT is set. Default: ${DEFAULT-VALUE}.")
  private List<PortAddress> management = List.of();

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:ASHLAR_CA}",
      description =
          "Certificate authorities, in PEM, that the management port's certificate must come from."
              + " Default: the public ones that Java knows.")
  private @Nullable Path authorities;

  @Option(
      names = "--credentials",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:ASHLAR_CREDENTIALS}",
      description =
          "File with the root credentials, if they are not in the environment. Needed if the"
              + " management port is not on a loopback address.")
  private @Nullable Path credentials;

  @Option(names = "--json", scope = ScopeType.INHERIT, description = "Print JSON for programs.")
  private boolean isJson;

  private final ObjectMapper json = new ObjectMapper();
  private @Nullable AdminClient client;

  @Override
  public Integer call() {
    throw wrong("name a command, such as status, or see --help");
  }

  @Command(name = "status", description = "Shows the state of the store, problems first.")
  int status(@Option(names = "--watch", description = WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return show("status", isWatching);
  }

  @Command(
      name = "config",
      description =
          "Shows what the process is configured with, and where each value comes from. Any process"
              + " of the store can be asked.")
  int config() throws IOException, InterruptedException {
    return show("config", false);
  }

  @Command(
      name = "locate",
      description = "Shows the blobs of an object, and the drives that have their shards.")
  int locate(
      @Parameters(paramLabel = "BUCKET/KEY", description = "Object.") String object,
      @Option(
              names = "--version-id",
              paramLabel = "ID",
              description = "Version of the object. Default: the present one.")
          @Nullable String version,
      @Option(
              names = "--verify",
              description = "Read all shards, and tell which are lost. Takes as long as that.")
          boolean isVerified)
      throws IOException, InterruptedException {
    String page = isVerified ? "locate-verified" : "locate";
    Duration timeout = isVerified ? VERIFY_TIMEOUT : AdminClient.TIMEOUT;
    String path = "/admin/" + path(page, object, version);
    print("locate", client().send(gateway(), "GET", path, timeout));
    return 0;
  }

  @Command(
      name = "diagnose",
      description =
          "Writes a ZIP file for a bug report: versions, configuration, state, metrics, threads,"
              + " memory and last log lines of the processes that --management names, without"
              + " secrets.")
  int diagnose(@Parameters(paramLabel = "FILE", description = "New file.") Path file)
      throws IOException, InterruptedException {
    RootCredential root = RootCredential.ifGiven(System.getenv(), credentials);
    SecretRemoval secrets = new SecretRemoval(root == null ? List.of() : List.of(root.secretKey()));
    String version = String.join(" ", new Version().getVersion());
    new DiagnosisFile(file, secrets).write(ports(), client(), version);
    say("%s is written. It has no secrets; look into it before you give it away.", file);
    return 0;
  }

  @Command(name = "repair", description = "Shows what repair still has to rebuild.")
  int repair(@Option(names = "--watch", description = WATCH_UNTIL_DONE) boolean isWatching)
      throws IOException, InterruptedException {
    return isWatching ? watchProgress("repair", false) : show("repair", false);
  }

  @Command(
      name = "lifecycle",
      description =
          "Shows the last or running lifecycle scan of each bucket with rules, and what it has"
              + " done.")
  int lifecycle(@Option(names = "--watch", description = WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return show("lifecycle", isWatching);
  }

  @Command(
      name = "events",
      description =
          "Shows the events that wait for their targets, and the targets as the gateway sees them"
              + " that delivers.")
  int events(@Option(names = "--watch", description = WATCH) boolean isWatching)
      throws IOException, InterruptedException {
    return show("events", isWatching);
  }

  /** Shows a page, once or for as long as somebody reads it. */
  int show(String page, boolean isWatching) throws IOException, InterruptedException {
    if (!isWatching) {
      print(page, send("GET", page));
      return 0;
    }
    Rates rates = new Rates();
    String title = page + " of " + gateway();
    Watch.View view = new PageView(title, SteadyClock.ofSystem(), rates, PageText.of(page, rates));
    return watch(poller(page, VIEW_PAUSE, RetryingPoller.FAILED_ANY, false), view);
  }

  /** Requests a change, and shows the result. */
  int change(String name, @Nullable String target, @Nullable String by)
      throws IOException, InterruptedException {
    print(name, send("POST", path(name, target, by)));
    return 0;
  }

  /**
   * Shows the progress of {@code repair} or {@code rebalance} until nothing is left.
   *
   * @param hasAnswered whether the gateway may be unreachable at first, because it has just
   *     answered
   */
  int watchProgress(String page, boolean hasAnswered) throws IOException, InterruptedException {
    return watch(
        poller(page, PROGRESS_PAUSE, RetryingPoller.FAILED_MAX, hasAnswered),
        new Progress(System.nanoTime()));
  }

  private RetryingPoller poller(String page, Duration pause, int failedMax, boolean hasAnswered) {
    return new RetryingPoller(() -> send("GET", page), pause, failedMax, hasAnswered);
  }

  private int watch(RetryingPoller poller, Watch.View view)
      throws IOException, InterruptedException {
    new Watch(poller, WatchScreen.ofOutput(), System.err, isJson).run(view);
    return 0;
  }

  int scrub(boolean isStarting, boolean isWatching) throws IOException, InterruptedException {
    new ScrubAdmin(client()::send, ports(), WatchScreen.ofOutput(), isJson, PROGRESS_PAUSE)
        .run(isStarting, isWatching);
    return 0;
  }

  /** Writes a backup of metadata to a file. */
  int backUpMetadata(Path file) throws IOException, InterruptedException {
    new BackupFile(file).write(ports(), client()).forEach(System.out::println);
    return 0;
  }

  /** Fills empty metadata folders from a backup; asks no server. */
  int restoreMetadata(Path file, List<Path> folders, @Nullable Instant time) throws IOException {
    MetadataRestore restored = OfflineRestore.run(file, folders, time);
    say("Restored %,d rows of the backup of %s.", restored.rows(), restored.header().taken());
    say("Time of the restore: %s. On the other metadata nodes:", restored.point().time());
    say(
        "  ashlar admin metadata restore %s --metadata FOLDER --time %s",
        file, restored.point().time());
    return 0;
  }

  /** Accepts what a restore from a backup has lost. */
  int acceptRestore() throws IOException, InterruptedException {
    int code = change("metadata-accept-restore", null, null);
    if (!isJson) {
      say("Moves are not paused any more, also if they were at the time of the backup.");
    }
    return code;
  }

  /** Changes the metadata peers, and returns when that is done. */
  int changePeers(String name, String target, @Nullable String by)
      throws IOException, InterruptedException {
    new MetadataChange(this::send, System.out, isJson).run(path(name, target, by));
    return 0;
  }

  /**
   * Requests a change of an account, and shows the result.
   *
   * @param query made by {@link #parameters}
   */
  int changeAccount(String name, String query) throws IOException, InterruptedException {
    print(name, send("POST", name + query));
    return 0;
  }

  /**
   * The query of a request.
   *
   * @param namesAndValues alternating; what has no value is left out
   */
  static String parameters(@Nullable String... namesAndValues) {
    StringBuilder query = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      String prefix = (query.isEmpty() ? "?" : "&") + namesAndValues[i] + "=";
      query.append(parameter(prefix, namesAndValues[i + 1]));
    }
    return query.toString();
  }

  private void say(String text, Object... values) {
    System.out.printf(text + "%n", values);
  }

  private void print(String page, String body) throws IOException {
    if (isJson) {
      System.out.println(body);
    } else {
      PageText.of(page, new Rates()).apply(json.readTree(body)).forEach(System.out::println);
      if (page.equals("drain") || page.equals("replace")) {
        System.out.println("Progress: ashlar admin rebalance --watch");
      }
    }
    System.out.flush();
  }

  private static String path(String name, @Nullable String target, @Nullable String by) {
    return name + parameter("?target=", target) + parameter("&by=", by);
  }

  private static String parameter(String name, @Nullable String value) {
    return value == null ? "" : name + URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  private String send(String method, String path) throws IOException, InterruptedException {
    return client().send(gateway(), method, "/admin/" + path);
  }

  /** Made at the first request, when the options are known. */
  private AdminClient client() throws IOException {
    AdminClient known = client == null ? new AdminClient(credentials, authorities) : client;
    client = known;
    return known;
  }

  private PortAddress gateway() {
    return ports().getFirst();
  }

  private List<PortAddress> ports() {
    boolean isTls =
        authorities != null || System.getenv(OptionSources.variable("--tls-cert")) != null;
    PortAddress.Scheme usual = isTls ? PortAddress.Scheme.HTTPS : PortAddress.Scheme.HTTP;
    return management.stream().map(each -> each.orElse(usual)).toList();
  }

  private ParameterException wrong(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }
}
