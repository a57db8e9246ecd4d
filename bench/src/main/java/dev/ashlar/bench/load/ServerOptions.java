package dev.ashlar.bench.load;

import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.EndpointOptions;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.process.Launch;
import dev.ashlar.bench.process.S3Endpoint;
import dev.ashlar.bench.process.ServerProcess;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which server is loaded: one that is there, or one of our own in a scratch folder. */
public final class ServerOptions {
  /** What results call a server that runs already, as long as no storage class is named. */
  public static final String RUNNING = "endpoint";

  public static final String ENDPOINT_HEADING = "A running server, instead of one started here:%n";

  private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  @ArgGroup(exclusive = false, heading = ENDPOINT_HEADING)
  private @Nullable EndpointOptions endpoint;

  @Option(
      names = "--management",
      paramLabel = "URL",
      description = "Management port of --endpoint, whose counters are compared with ours.")
  private @Nullable URI management;

  @Option(
      names = "--profile",
      paramLabel = "PROFILE",
      converter = Arguments.ProfileText.class,
      defaultValue = "4+2",
      description = "Of our own server, as 6+2 or 6+2,optimizations=off (default: 4+2).")
  private String profile = "4+2";

  @Mixin private Options.OwnServer own = new Options.OwnServer();

  /**
   * A server to be loaded.
   *
   * @param management absent when it is not known
   * @param own to be closed
   */
  public record Loaded(
      String title, Target target, @Nullable URI management, @Nullable ServerProcess own)
      implements AutoCloseable {
    /** Another bucket of the same server. */
    public Loaded withBucket(String bucket) {
      return new Loaded(title, new Target(target.server(), bucket, null), management, own);
    }

    /** Another bucket of the same server, for objects of this storage class. */
    public Loaded withStorageClass(String storageClass) {
      Target other = new Target(target.server(), newBucket(), storageClass);
      return new Loaded(title, other, management, own);
    }

    /** Null when it is not known. */
    public @Nullable ProcessHandle process() {
      return target.server().process();
    }

    @Override
    public void close() {
      if (own != null) {
        own.close();
      }
    }
  }

  /** Null when the server is our own. */
  @Nullable EndpointOptions endpoint() {
    return endpoint;
  }

  public boolean isOwn() {
    return endpoint == null;
  }

  /** As the results call it. */
  public String profile() {
    return endpoint == null ? profile : RUNNING;
  }

  public ScratchFolder newScratch() throws IOException {
    return own.newScratch();
  }

  /**
   * The server, started if it is to be our own.
   *
   * @param variables of the environment in which our own is started
   */
  public Loaded open(Path scratch, Map<String, String> variables)
      throws IOException, InterruptedException {
    return endpoint == null
        ? own(own.launcher(), profile, scratch, newBucket(), variables)
        : running(endpoint, management);
  }

  /** Several may load one server at once, each in a bucket of its own. */
  private static String newBucket() {
    return "bench-%s-%08x"
        .formatted(
            STAMP.format(LocalDateTime.now(ZoneOffset.UTC)), ThreadLocalRandom.current().nextInt());
  }

  /** A server that runs already. */
  public static Loaded running(EndpointOptions endpoint, @Nullable URI management) {
    Target target = new Target(endpoint.endpoint(), newBucket(), null);
    return new Loaded(endpoint.name(), target, management, null);
  }

  /**
   * A server of our own: as many drive folders as the profile needs, and one for metadata.
   *
   * @param variables of the environment in which it is started
   */
  public static Loaded own(
      Path launcher, String profile, Path scratch, String bucket, Map<String, String> variables)
      throws IOException, InterruptedException {
    int drives = Profile.parse(profile, 0).shards();
    int port = ServerProcess.freePort();
    int managementPort = ServerProcess.freePort();
    Launch launch =
        new Launch.Ashlar(launcher, profile, drives, 1)
            .in(scratch, port, managementPort)
            .with(variables);
    Path log = Files.createDirectories(scratch).resolve("server.log");
    ServerProcess server = ServerProcess.start(launch, log);
    URI management = URI.create("http://" + Launch.HOST + ":" + managementPort);
    Target target = new Target(S3Endpoint.of(server, port), bucket, null);
    return new Loaded("Ashlar, " + profile, target, management, server);
  }
}
