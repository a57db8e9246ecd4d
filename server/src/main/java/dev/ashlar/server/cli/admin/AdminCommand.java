package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.process.SteadyClock;
import dev.ashlar.server.cli.Version;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ashlar admin}: what the management port of a gateway tells and does, for people. */
@Command(
    name = "admin",
    description = "Tells how the store is, and has drives emptied or filled.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    footer = {
      "",
      "status, nodes, drives, pgs, repair, rebalance   tell what there is",
      "scrub            tells how far drives are with reading all that they hold; --start has them begin",
      "drain TARGET     moves everything off a node or drive, which can be taken away then",
      "replace OLD NEW  a drive that came gets the slots of another, which is drained",
      "undrain TARGET   or in TARGET: it is to have its share again",
      "out TARGET       takes one for lost that is down: what it had is rebuilt elsewhere",
      "metadata         tells who the metadata peers are; metadata add NEW, metadata remove OLD and",
      "                 metadata replace OLD NEW change that (NEW: HOST:PORT, OLD: that or an id)",
      "drive recall ID  has drives that were replaced take their places again, when they are mounted there",
      "                 (several with commas; in a store in one process also folders)",
      "pause, resume    moving what need not be moved; repair goes on"
    })
public final class AdminCommand implements Callable<Integer> {
  private static final Set<String> VIEWS =
      Set.of("status", "nodes", "drives", "pgs", "repair", "rebalance");
  private static final String REPLACE = "replace";
  private static final Set<String> ON_TARGETS = Set.of("drain", "undrain", "out", "in", REPLACE);
  private static final String SCRUB = "scrub";
  private static final String METADATA = "metadata";
  private static final String DRIVE = "drive";
  private static final String RECALL = "recall";
  private static final Set<String> OTHERS = Set.of("pause", "resume");
  private static final Set<String> UNTIL_DONE =
      Set.of("repair", "rebalance", "drain", REPLACE, SCRUB);

  /** From one look at a view to the next; groups are counted for it. */
  private static final Duration VIEW_LOOK = Duration.ofSeconds(2);

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "WHAT", description = "See below.")
  private String what = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "TARGET",
      description =
          "The name of a node, or the id of a drive; of metadata: add, remove or replace;"
              + " of drive: recall.")
  private @Nullable String target;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "NEW",
      description =
          "Of replace: the drive that takes the place; of metadata: a peer; of"
              + " drive recall: its id.")
  private @Nullable String by;

  @Parameters(
      index = "3",
      arity = "0..1",
      paramLabel = "NEW",
      description = "Of metadata replace: the peer that takes the place.")
  private @Nullable String newPeer;

  @Option(
      names = "--management",
      paramLabel = "HOST:PORT",
      split = ",",
      converter = OptionTypes.HostPort.class,
      defaultValue = "${env:ASHLAR_MANAGEMENT_LISTEN:-127.0.0.1:9001}",
      description =
          "The management port of a gateway; of scrub those of processes with drives, with commas"
              + " between them. Default: ${DEFAULT-VALUE}.")
  private List<Endpoint> management = List.of(new Endpoint("127.0.0.1", 9001));

  @Option(
      names = "--credentials",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CREDENTIALS}",
      description =
          "The root credentials, unless they are in the environment; needed where the port is not on"
              + " loopback.")
  private @Nullable Path credentials;

  @Option(names = "--json", description = "The answer as it comes.")
  private boolean isJson;

  @Option(
      names = "--watch",
      description =
          "Of what tells something: shows it anew, with rates, until it is ended with Ctrl-C. Of"
              + " repair, rebalance, drain, replace and scrub: until nothing is left to be done.")
  private boolean isWatching;

  @Option(names = "--start", description = "Of scrub: has all drives begin now.")
  private boolean isStarting;

  private final ObjectMapper json = new ObjectMapper();

  @Override
  public Integer call() throws Exception {
    check();
    try (AdminClient client = new AdminClient(credentials)) {
      if (what.equals(SCRUB)) {
        new ScrubAdmin(client::send, management, WatchScreen.ofOutput(), isJson, ScrubAdmin.LOOK)
            .run(isStarting, isWatching);
        return 0;
      }
      if (what.equals(METADATA)) {
        return new MetadataAdminCommand(path -> send(client, path), System.out, isJson)
            .run(target, by, newPeer);
      }
      if (what.equals(DRIVE)) {
        show(send(client, "POST", "drive-recall" + parameter("?target=", by)));
        return 0;
      }
      if (isWatching) {
        watch(client);
        return 0;
      }
      show(ask(client));
      return 0;
    } catch (IOException e) {
      System.err.println("ashlar: " + e.getMessage());
      return 1;
    }
  }

  private void show(String body) throws IOException {
    if (isJson) {
      System.out.println(body);
    } else {
      AdminText.print(what, json.readTree(body), System.out);
    }
  }

  private void check() {
    if (what.equals(METADATA)) {
      checkMetadata();
      return;
    }
    if (what.equals(DRIVE)) {
      checkDrive();
      return;
    }
    boolean isOnTarget = ON_TARGETS.contains(what);
    boolean isScrub = what.equals(SCRUB);
    if (!isOnTarget && !isScrub && !VIEWS.contains(what) && !OTHERS.contains(what)) {
      throw wrong("there is no admin " + what);
    }
    if (isOnTarget == (target == null)) {
      throw wrong(isOnTarget ? what + " needs a node or drive" : what + " takes no target");
    }
    if (what.equals(REPLACE) == (by == null)) {
      throw wrong("replace, and nothing else, needs two drives");
    }
    if (isWatching && OTHERS.contains(what)) {
      throw wrong("--watch goes with what tells something, drain and replace");
    }
    if (isStarting && !isScrub) {
      throw wrong("--start goes with scrub");
    }
    if (newPeer != null) {
      throw wrong("too many targets");
    }
    checkOneGateway(isScrub);
  }

  private void checkOneGateway(boolean isScrub) {
    if (management.size() > 1 && !isScrub) {
      throw wrong("--management takes one gateway, unless it is for scrub");
    }
  }

  private void checkDrive() {
    if (!RECALL.equals(target) || by == null || newPeer != null) {
      throw wrong("drive recall takes the ids of drives, with commas between them");
    }
    if (isWatching || isStarting) {
      throw wrong("--watch and --start do not go with drive recall");
    }
    checkOneGateway(false);
  }

  private void checkMetadata() {
    if (isWatching || isStarting) {
      throw wrong("--watch and --start do not go with metadata");
    }
    checkOneGateway(false);
    String usage = MetadataAdminCommand.usage(target, by, newPeer);
    if (usage != null) {
      throw wrong(usage);
    }
  }

  private ParameterException wrong(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  private String ask(AdminClient client) throws IOException, InterruptedException {
    return VIEWS.contains(what) ? send(client, "GET", what) : send(client, "POST", what + query());
  }

  private String query() {
    String query = parameter("?target=", target);
    return query + parameter("&by=", by);
  }

  private static String parameter(String name, @Nullable String value) {
    return value == null ? "" : name + URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /** Changes what begins with the name of a change. */
  private String send(AdminClient client, String path) throws IOException, InterruptedException {
    return send(client, path.equals(METADATA) ? "GET" : "POST", path);
  }

  private String send(AdminClient client, String method, String path)
      throws IOException, InterruptedException {
    return client.send(management.getFirst(), method, "/admin/" + path);
  }

  /** Has it done, where it is no view, and looks until nothing is left, or for ever. */
  private void watch(AdminClient client) throws IOException, InterruptedException {
    boolean isView = VIEWS.contains(what);
    if (!isView) {
      show(ask(client));
    }
    String page = isView ? what : "rebalance";
    RetryingPoller.Look look = () -> send(client, "GET", page);
    WatchScreen screen = WatchScreen.ofOutput();
    Outage outage = new Outage(System.err);
    if (UNTIL_DONE.contains(what)) {
      RetryingPoller looks =
          new RetryingPoller(look, AdminWatch.LOOK, RetryingPoller.FAILED_MAX, !isView);
      new AdminWatch(looks, screen, outage, isJson).run();
    } else {
      String title = what + " of " + management.getFirst();
      RetryingPoller looks = new RetryingPoller(look, VIEW_LOOK, RetryingPoller.FAILED_ANY, false);
      new ViewWatch(title, looks, screen, outage, SteadyClock.ofSystem()).run(isJson);
    }
  }
}
