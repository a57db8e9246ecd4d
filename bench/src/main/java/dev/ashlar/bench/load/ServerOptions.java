package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.Launch;
import dev.ashlar.bench.process.ServerProcess;
import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which server is loaded: one that is there, or one of our own in a scratch folder. */
public final class ServerOptions {
  private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      description = "A server that runs, as http://127.0.0.1:9000 (default: one of our own).")
  private @Nullable URI endpoint;

  @Option(
      names = "--access-key",
      paramLabel = "KEY",
      defaultValue = "${env:AWS_ACCESS_KEY_ID}",
      description = "For --endpoint (default: AWS_ACCESS_KEY_ID of the environment).")
  private @Nullable String accessKey;

  @Option(
      names = "--secret-key",
      paramLabel = "KEY",
      defaultValue = "${env:AWS_SECRET_ACCESS_KEY}",
      description = "For --endpoint (default: AWS_SECRET_ACCESS_KEY of the environment).")
  private @Nullable String secretKey;

  @Option(names = "--region", defaultValue = "us-east-1", description = "Default: us-east-1.")
  private String region = "us-east-1";

  @Option(
      names = "--management",
      paramLabel = "URL",
      description = "Management port of --endpoint, whose counters are compared with ours.")
  private @Nullable URI management;

  @Option(
      names = "--server-pid",
      paramLabel = "PID",
      defaultValue = "0",
      description = "Process of --endpoint on this machine, whose CPU and memory are sampled.")
  private long serverPid;

  @Option(
      names = "--profile",
      defaultValue = "4+2",
      description = "Of our own server, as 6+2 or 6+2,optimizations=off (default: 4+2).")
  private String profile = "4+2";

  @Option(
      names = "--folder",
      defaultValue = ".",
      description = "Where our own server's drive folders are made, and removed (default: here).")
  private Path folder = Path.of(".");

  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "The launcher of our own server (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

  /**
   * A server to be loaded.
   *
   * @param management absent when it is not known
   * @param pid 0 when it is not known
   * @param own to be closed
   */
  public record Loaded(
      String title, Target target, @Nullable URI management, long pid, @Nullable ServerProcess own)
      implements AutoCloseable {
    @Override
    public void close() {
      if (own != null) {
        own.close();
      }
    }
  }

  public boolean isOwn() {
    return endpoint == null;
  }

  public String profile() {
    return endpoint == null ? profile : "endpoint";
  }

  /** Where scratch folders are made. */
  public Path folder() {
    return folder;
  }

  /** The server, started if it is to be our own. */
  public Loaded open(Path scratch) throws IOException, InterruptedException {
    String bucket = "bench-" + STAMP.format(LocalDateTime.now(ZoneOffset.UTC));
    if (endpoint != null) {
      if (accessKey == null || secretKey == null) {
        throw new BenchException("Say who loads the endpoint: --access-key and --secret-key.");
      }
      Target target = Target.of(endpoint, accessKey, secretKey, region, bucket);
      return new Loaded(endpoint.toString(), target, management, serverPid, null);
    }
    return own(launcher, profile, scratch, bucket);
  }

  /** A server of our own: as many drive folders as the profile needs, and one for metadata. */
  public static Loaded own(Path launcher, String profile, Path scratch, String bucket)
      throws IOException, InterruptedException {
    int drives = Profile.parse(profile, 0).shards();
    int port = ServerProcess.freePort();
    int managementPort = ServerProcess.freePort();
    Launch launch =
        new Launch.Ashlar(launcher, profile, drives, 1).in(scratch, port, managementPort);
    Path log = Files.createDirectories(scratch).resolve("server.log");
    ServerProcess server = ServerProcess.start(launch, log);
    Target target = Target.of(uri(port), Launch.ACCESS_KEY, Launch.SECRET_KEY, "us-east-1", bucket);
    return new Loaded(
        "Ashlar, " + profile, target, uri(managementPort), server.handle().pid(), server);
  }

  private static URI uri(int port) {
    return URI.create("http://" + Launch.HOST + ":" + port);
  }
}
