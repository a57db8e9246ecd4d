package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.Main;
import dev.ashlar.server.cli.RehearsalClient;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The pages of docs/reference that are made from the code, compared with the code. With {@code
 * -Dashlar.docs.write=true} they are written instead.
 */
class GeneratedPagesTest {
  private static final Path DOCS = Path.of("../docs");
  private static final Path METRICS = DOCS.resolve("reference/metrics.md");
  private static final int WIDTH = 118;

  /** Known only when a job has done something. */
  private static final String FIRST_ROUND = "ashlar.job.round";

  private static final String OF_BUCKETS = "ashlar.account.quota.objects";

  private static final Duration ROUND_WAIT = Duration.ofSeconds(60);
  private static final int PAUSE_MS = 50;
  private static final String REGENERATE =
      "./mvnw -pl server -am -Dlint.skip -DskipTests=false -Dsurefire.failIfNoSpecifiedTests=false"
          + " \\\n  -Dtest=GeneratedPagesTest -Dashlar.docs.write=true test";

  /** A default that may come from the environment. */
  private static final Pattern FROM_ENVIRONMENT = Pattern.compile("\\$\\{env:[A-Z_]+(?::-(.*))?}");

  /** Metrics as pages for people name them. */
  private static final Pattern METRIC = Pattern.compile("ashlar_[a-z0-9_]*[a-z0-9](?!_?\\*|…)");

  /** What Prometheus makes of a timer. */
  private static final Pattern TIMER_PART = Pattern.compile("_(count|sum|max|bucket)$");

  @Test
  void flags() throws IOException {
    CommandSpec all = new CommandLine(Main.class).getCommandSpec();
    Page page = new Page("Flags");
    page.text(
        "Every option of `ashlar server` can be set on the command line, by an environment variable"
            + " (`--stripe-unit` is `ASHLAR_STRIPE_UNIT`) or in the properties file that"
            + " `--config` names (`stripe-unit=16KiB`), in this order of precedence. The secret"
            + " of a cluster itself may be in `ASHLAR_CLUSTER_SECRET`, the root credentials in"
            + " `ASHLAR_ACCESS_KEY` and `ASHLAR_SECRET_KEY`. The launcher reads `ASHLAR_HEAP`,"
            + " `ASHLAR_DIRECT_MEMORY` and `ASHLAR_JAVA_OPTIONS`.");
    for (String name : List.of("server", "cluster", "admin", "import", "fsck")) {
      command(page, Objects.requireNonNull(all.subcommands().get(name)).getCommandSpec());
    }
    page.compare(DOCS.resolve("reference/flags.md"));
  }

  private static void command(Page page, CommandSpec spec) {
    page.heading("## ", spec.qualifiedName());
    page.text(String.join(" ", spec.usageMessage().description()));
    List<OptionSpec> rest = new ArrayList<>(spec.options());
    spec.argGroups().forEach(group -> rest.removeAll(group.options()));
    items(page, spec.positionalParameters(), rest);
    for (ArgGroupSpec group : spec.argGroups()) {
      page.heading("### ", group.heading().replace("%n", "").replace(":", "").strip());
      items(page, List.of(), group.options());
    }
    Map<String, CommandLine> leaves = new TreeMap<>();
    leaves(spec, leaves);
    List<OptionSpec> shared = shared(leaves);
    shared.removeIf(option -> !isIn(spec.options(), option));
    leaves.forEach((name, leaf) -> subcommand(page, name, leaf.getCommandSpec(), shared));
  }

  private static void subcommand(
      Page page, String name, CommandSpec spec, List<OptionSpec> shared) {
    page.heading("### ", name);
    page.text(String.join(" ", spec.usageMessage().description()));
    List<OptionSpec> own = new ArrayList<>(spec.options());
    own.removeIf(option -> isIn(shared, option));
    items(page, spec.positionalParameters(), own);
  }

  private static void leaves(CommandSpec spec, Map<String, CommandLine> leaves) {
    for (CommandLine child : spec.subcommands().values()) {
      CommandSpec of = child.getCommandSpec();
      if (of.subcommands().isEmpty() || of.userObject() instanceof Callable<?>) {
        leaves.put(of.qualifiedName(), child);
      }
      leaves(of, leaves);
    }
  }

  /** Options that all of several commands have. */
  private static List<OptionSpec> shared(Map<String, CommandLine> leaves) {
    if (leaves.size() < 2) {
      return new ArrayList<>();
    }
    List<OptionSpec> shared =
        new ArrayList<>(leaves.values().iterator().next().getCommandSpec().options());
    for (CommandLine leaf : leaves.values()) {
      shared.removeIf(option -> !isIn(leaf.getCommandSpec().options(), option));
    }
    return shared;
  }

  private static boolean isIn(List<OptionSpec> options, OptionSpec one) {
    return options.stream().anyMatch(each -> each.longestName().equals(one.longestName()));
  }

  private static void items(
      Page page, List<PositionalParamSpec> parameters, List<OptionSpec> options) {
    for (PositionalParamSpec each : parameters) {
      page.item("- `" + each.paramLabel() + "`: " + String.join(" ", each.description()));
    }
    for (OptionSpec each : options) {
      if (!each.usageHelp() && !each.versionHelp() && !each.hidden()) {
        String label = takesValue(each) ? " " + each.paramLabel() : "";
        String value = defaultOf(each);
        String text = String.join(" ", each.description()).replace("${DEFAULT-VALUE}", value);
        boolean isShown = !value.isEmpty() && !text.contains("Default:");
        page.item(
            "- `"
                + each.longestName()
                + label
                + "`"
                + (isShown ? ", default `" + value + "`" : "")
                + ": "
                + text);
      }
    }
    page.end();
  }

  private static boolean takesValue(OptionSpec option) {
    return option.arity().min() > 0;
  }

  private static String defaultOf(OptionSpec option) {
    String value = option.defaultValue();
    if (value == null || !takesValue(option)) {
      return "";
    }
    Matcher environment = FROM_ENVIRONMENT.matcher(value);
    if (environment.matches()) {
      value = Objects.requireNonNullElse(environment.group(1), "");
    }
    return value;
  }

  @Test
  void metrics(@TempDir Path folder) throws Exception {
    Map<String, Described> found = new TreeMap<>();
    PrometheusMeterRegistry ofStore = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    PrometheusMeterRegistry ofNode = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    int port = freePort();
    ServerOptions options = nodeOptions(Files.createDirectories(folder.resolve("node")), port);
    Node store = new Node(storeOptions(Files.createDirectories(folder.resolve("store"))), ofStore);
    try {
      ClusterNode node = new ClusterNode(options, ofNode);
      try {
        createBucket(store.s3Address(), store.root());
        createBucket(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
            Objects.requireNonNull(node.root()));
        describe(ofStore, "a store in one process", found);
        describe(ofNode, "a cluster", found);
      } finally {
        node.close();
      }
    } finally {
      store.close();
    }
    Page page = new Page("Metrics");
    page.text(
        "What `GET /prometheus` on the management port has, besides the metrics of the JVM and of"
            + " the process. In brackets: the kind of the metric, and its labels. What they"
            + " are good for: [monitoring](../operate/monitoring.md).");
    String group = "";
    for (Map.Entry<String, Described> each : found.entrySet()) {
      String next = each.getKey().split("_", -1)[1];
      if (!next.equals(group)) {
        page.end();
        page.heading("## ", "ashlar_" + next);
        group = next;
      }
      page.item("- `" + each.getKey() + "` " + each.getValue().text());
    }
    page.end();
    page.compare(METRICS);
  }

  private static void createBucket(InetSocketAddress s3, RootCredential root) throws IOException {
    new RehearsalClient(s3, root, "us-east-1").send("PUT", "/bucket", "", new byte[0]);
  }

  /**
   * A metric.
   *
   * @param where the kinds of process that have it
   */
  private record Described(
      String kind, String description, TreeSet<String> labels, List<String> where) {
    String text() {
      String by = labels.isEmpty() ? "" : " by `" + String.join("`, `", labels) + "`";
      String only = where.size() > 1 ? "" : " Only of " + where.getFirst() + ".";
      return "(" + kind + by + "): " + description + only;
    }
  }

  private static void describe(
      PrometheusMeterRegistry registry, String where, Map<String, Described> found)
      throws InterruptedException {
    long deadline = System.nanoTime() + ROUND_WAIT.toNanos();
    while ((registry.find(FIRST_ROUND).timer() == null || registry.find(OF_BUCKETS).gauge() == null)
        && System.nanoTime() < deadline) {
      Thread.sleep(PAUSE_MS);
    }
    for (Meter meter : registry.getMeters()) {
      Meter.Id id = meter.getId();
      if (!id.getName().startsWith("ashlar")) {
        continue;
      }
      String text = Objects.requireNonNullElse(id.getDescription(), "");
      assertFalse(text.isBlank(), () -> id.getName() + " has no description");
      String name = id.getConventionName(registry.config().namingConvention());
      boolean isCounter = id.getType() == Meter.Type.COUNTER;
      Described described =
          found.computeIfAbsent(
              isCounter && !name.endsWith("_total") ? name + "_total" : name,
              key ->
                  new Described(
                      id.getType().name().toLowerCase(Locale.ROOT),
                      sentence(text),
                      new TreeSet<>(),
                      new ArrayList<>()));
      id.getTags().stream().map(Tag::getKey).forEach(described.labels::add);
      if (!described.where.contains(where)) {
        described.where.add(where);
      }
    }
  }

  private static String sentence(String text) {
    String begun = text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    return begun.endsWith(".") ? begun : begun + ".";
  }

  private static ServerOptions storeOptions(Path root) throws Exception {
    certify(root);
    return ServerOptions.parse(
        Map.of(),
        "--data=" + root + "/d{1...3}",
        "--metadata=" + root + "/metadata",
        "--profile=2+1",
        "--codec=java",
        "--transport=nio",
        "--tls-cert=" + root.resolve("tls.crt"),
        "--tls-key=" + root.resolve("tls.key"),
        "--listen=http://127.0.0.1:0");
  }

  private static ServerOptions nodeOptions(Path root, int s3) throws Exception {
    Path secret = Files.writeString(root.resolve("secret"), "sixteen bytes or more");
    Path credentials =
        Files.writeString(
            root.resolve("credentials"),
            "ASHLAR_ACCESS_KEY=some-key\nASHLAR_SECRET_KEY=secret-key\n");
    certify(root);
    int port = freePort();
    return ServerOptions.parse(
        Map.of(),
        "--cluster=pages",
        "--cluster-secret-file=" + secret,
        "--node=one",
        "--host=127.0.0.1",
        "--metadata-nodes=127.0.0.1:" + port,
        "--cluster-listen=127.0.0.1:" + port,
        "--expect-drives=3",
        "--credentials=" + credentials,
        "--cluster-tls-cert=" + root.resolve("tls.crt"),
        "--cluster-tls-key=" + root.resolve("tls.key"),
        "--cluster-tls-ca=" + root.resolve("tls.crt"),
        "--data=" + root + "/d{1...3}",
        "--metadata=" + root + "/metadata",
        "--profile=2+1",
        "--codec=java",
        "--transport=nio",
        "--tls-cert=" + root.resolve("tls.crt"),
        "--tls-key=" + root.resolve("tls.key"),
        "--listen=http://127.0.0.1:" + s3);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** A certificate that is its own authority. */
  private static void certify(Path folder) throws Exception {
    Path store = folder.resolve("store.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "pages",
                "-keyalg",
                "EC",
                "-dname",
                "CN=pages",
                "-ext",
                "san=ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                store.toString())
            .inheritIO()
            .start();
    assertEquals(0, keytool.waitFor());
    KeyStore keys = KeyStore.getInstance(store.toFile(), "changeit".toCharArray());
    write(folder.resolve("tls.crt"), "CERTIFICATE", keys.getCertificate("pages").getEncoded());
    write(
        folder.resolve("tls.key"),
        "PRIVATE KEY",
        keys.getKey("pages", "changeit".toCharArray()).getEncoded());
  }

  private static void write(Path file, String kind, byte[] content) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n");
  }

  @Test
  void pagesNameOnlyMetricsThatExist() throws IOException {
    String listed = Files.readString(METRICS);
    Path chartFiles = Path.of("../helm/ashlar/files");
    List<Path> pages =
        new ArrayList<>(
            List.of(
                Path.of("../README.md"),
                chartFiles.resolve("alerts.yaml"),
                chartFiles.resolve("dashboard.json")));
    for (String folder : List.of("operate", "reference")) {
      try (Stream<Path> files = Files.list(DOCS.resolve(folder))) {
        files.filter(file -> !file.equals(METRICS)).forEach(pages::add);
      }
    }
    for (Path page : pages) {
      Matcher names = METRIC.matcher(Files.readString(page));
      while (names.find()) {
        String name = names.group();
        String timer = TIMER_PART.matcher(name).replaceFirst("");
        assertTrue(
            listed.contains("`" + name + "`") || listed.contains("`" + timer + "`"),
            () -> page + " names " + name);
      }
    }
  }

  /** Markdown with lines of bounded length. */
  private static final class Page {
    private final StringBuilder lines = new StringBuilder();

    Page(String title) {
      lines.append("# ").append(title).append("\n\n");
      text("This page is made from the code. After a change of the code, make it again:");
      lines.append("```sh\n").append(REGENERATE).append("\n```\n\n");
    }

    void heading(String level, String text) {
      lines.append(level).append(text).append("\n\n");
    }

    void text(String text) {
      wrap(text, "");
      end();
    }

    void item(String text) {
      wrap(text, "  ");
    }

    void end() {
      if (!lines.toString().endsWith("\n\n")) {
        lines.append('\n');
      }
    }

    private void wrap(String text, String indent) {
      StringBuilder line = new StringBuilder();
      for (String word : text.strip().split("\\s+", -1)) {
        if (!line.isEmpty() && line.length() + 1 + word.length() > WIDTH) {
          lines.append(line).append('\n');
          line.setLength(0);
          line.append(indent).append(word);
        } else {
          line.append(line.isEmpty() ? "" : " ").append(word);
        }
      }
      lines.append(line).append('\n');
    }

    void compare(Path file) throws IOException {
      String expected = lines.toString().strip() + "\n";
      if (Boolean.getBoolean("ashlar.docs.write")) {
        Files.writeString(file, expected);
      }
      String found = Files.exists(file) ? Files.readString(file) : "";
      assertEquals(expected, found, () -> file + " is out of date. Run\n" + REGENERATE);
    }
  }
}
