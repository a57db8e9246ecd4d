package dev.ashlar.server.cli;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.admin.RunningServer;
import dev.ashlar.server.config.Address;
import dev.ashlar.server.config.ClusterFlags;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.FolderPattern;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.server.config.ScrubFlags;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.config.SizeArgument;
import dev.ashlar.transport.Transport;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ashlar server}: every role in one process, or some of a cluster. */
@Command(
    name = "server",
    description =
        "Runs the object store: S3 gateway, storage and metadata in one process, or some of these as a"
            + " process of a cluster.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    showDefaultValues = true,
    footer = {
      "",
      "Credentials come from ASHLAR_ACCESS_KEY and ASHLAR_SECRET_KEY, or are made at the first start.",
      "Every option can be given in the environment: --stripe-unit as ASHLAR_STRIPE_UNIT,",
      "and in the file that --config names: stripe-unit=16384."
    })
public final class ServerCommand implements Callable<Integer> {
  /** What {@link #call} answers when the server was started and goes on. */
  public static final int RUNNING = -1;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "FOLDERS",
      defaultValue = "${env:ASHLAR_DATA:-./data/d{1...6}}",
      description = "One folder per drive; '/mnt/d{1...6}' is six, commas separate more.")
  private String data = "";

  @Option(
      names = "--metadata",
      paramLabel = "FOLDERS",
      defaultValue = "${env:ASHLAR_METADATA}",
      showDefaultValue = Visibility.NEVER,
      description =
          "1, 3 or 5 folders for metadata; of a cluster's metadata node the one of its peer. Default:"
              + " spread over the drives where these are distinct devices, else one folder beside"
              + " them.")
  private @Nullable String metadata;

  @Option(
      names = "--profile",
      paramLabel = "K+M",
      defaultValue = "${env:ASHLAR_PROFILE:-4+2}",
      description =
          "Data and parity shards of new data. 4+2,optimizations=off pads, reads and writes whole"
              + " stripes: only to measure against.")
  private String profile = "";

  @Option(
      names = "--stripe-unit",
      paramLabel = "BYTES",
      converter = SizeArgument.AsInt.class,
      defaultValue = "${env:ASHLAR_STRIPE_UNIT:-0}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Of one strip: a multiple of 4KiB up to 1MiB. Default: 16KiB, with optimizations=off"
              + " 4KiB.")
  private int stripeUnit;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      converter = Address.Converter.class,
      defaultValue = "${env:ASHLAR_LISTEN:-127.0.0.1:9000}",
      description = "Where S3 is served.")
  private Address listen = new Address("127.0.0.1", 9000);

  @Option(
      names = "--management-listen",
      paramLabel = "HOST:PORT",
      converter = Address.Converter.class,
      defaultValue = "${env:ASHLAR_MANAGEMENT_LISTEN:-127.0.0.1:9001}",
      description = "Where /health and /prometheus are served.")
  private Address managementListen = new Address("127.0.0.1", 9001);

  @Option(
      names = "--domain",
      paramLabel = "HOST",
      split = ",",
      defaultValue = "${env:ASHLAR_DOMAIN:-localhost}",
      description = "Host names for virtual-host-style requests (BUCKET.HOST).")
  private List<String> domains = List.of();

  @Option(
      names = "--region",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_REGION:-us-east-1}",
      description = "The region that requests are signed for.")
  private String region = "";

  @Option(
      names = "--codec",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_CODEC:-auto}",
      description = "auto, isal (an error when it cannot load) or java.")
  private CodecChoice codec = CodecChoice.AUTO;

  @Option(
      names = "--transport",
      paramLabel = "NAME",
      defaultValue = "${env:ASHLAR_TRANSPORT:-epoll}",
      description = "epoll, io_uring or nio.")
  private Transport transport = Transport.EPOLL;

  @Option(
      names = "--drive-capacity",
      paramLabel = "BYTES",
      converter = SizeArgument.AsLong.class,
      defaultValue = "${env:ASHLAR_DRIVE_CAPACITY:-0}",
      description =
          "At most so much of each drive is used, as 500GiB; 0 for all of its file system.")
  private long driveCapacityBytes;

  @Option(
      names = "--hang-after",
      paramLabel = "SECONDS",
      defaultValue = "${env:ASHLAR_HANG_AFTER:-30}",
      description =
          "A drive that has not come back from a read or write for so long counts as failed; at least"
              + " 10.")
  private int hangAfterSeconds;

  @Option(
      names = "--hedge-budget",
      paramLabel = "PERCENT",
      defaultValue = "${env:ASHLAR_HEDGE_BUDGET:-5}",
      description = "Additional reads of other drives, at most, where some are late; 0 is off.")
  private int hedgePercent;

  @Option(
      names = "--repair-rate",
      paramLabel = "BYTES",
      converter = SizeArgument.AsLong.class,
      defaultValue = "${env:ASHLAR_REPAIR_RATE:-64MiB}",
      description =
          "Bytes per second that repair reads at most, as 50MiB; 0 for as many as it can. In a"
              + " cluster one gateway repairs.")
  private long repairBytesPerSecond;

  @Option(
      names = "--rebalance-rate",
      paramLabel = "BYTES",
      converter = SizeArgument.AsLong.class,
      defaultValue = "${env:ASHLAR_REBALANCE_RATE:-64MiB}",
      description =
          "Bytes per second that are read at most to move what need not be repaired to other drives,"
              + " for drains and new drives; 0 for as many as it can.")
  private long moveBytesPerSecond;

  @Mixin private ScrubFlags scrub = new ScrubFlags();

  // ConfigFile looks for it before all others.
  @SuppressWarnings("UnusedVariable")
  @Option(
      names = "--config",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CONFIG}",
      showDefaultValue = Visibility.NEVER,
      description =
          "Options in a properties file; the command line and the environment come first.")
  private @Nullable Path config;

  @Mixin private ClusterFlags cluster = new ClusterFlags();

  @Override
  public Integer call() {
    EndOfInput.watch();
    ServerOptions options = options();
    ApplicationContext context;
    try {
      context = start(options);
    } catch (RuntimeException e) {
      StartFailure.report(e, System.err);
      return 1;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(context::close, "shutdown"));
    context.getBean(RunningServer.class).printStarted(System.out, Terminal.isOutput());
    return RUNNING;
  }

  /** Returns when requests are served, on both ports. */
  static ApplicationContext start(ServerOptions options) {
    Map<String, Object> properties =
        Map.of(
            "micronaut.server.host",
            options.managementListen().host(),
            "micronaut.server.port",
            options.managementListen().port(),
            RunningServer.PROPERTY,
            options.cluster() == null ? RunningServer.EMBEDDED : RunningServer.CLUSTER);
    ApplicationContext context =
        ApplicationContext.builder()
            .banner(false)
            .singletons(options)
            .properties(properties)
            .build();
    try {
      context.start();
      context.getBean(EmbeddedServer.class).start();
      return context;
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  private ServerOptions options() {
    try {
      Profile parsed = Profile.parse(profile, stripeUnit);
      ClusterOptions part = cluster.options(System.getenv());
      List<Path> dataFolders =
          part == null || part.has(ServerRole.STORAGE) ? FolderPattern.expand(data) : List.of();
      List<Path> metadataFolders = metadataFolders(part, dataFolders, parsed);
      checkFree(part);
      return new ServerOptions(
          dataFolders,
          metadataFolders,
          parsed,
          listen,
          managementListen,
          codec,
          region,
          domains,
          transport,
          driveCapacityBytes,
          Duration.ofSeconds(hangAfterSeconds),
          hedgePercent,
          repairBytesPerSecond,
          moveBytesPerSecond,
          scrub.options(),
          part);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(Objects.requireNonNull(spec).commandLine(), e.getMessage(), e);
    }
  }

  private void checkFree(@Nullable ClusterOptions part) {
    if (part == null || part.has(ServerRole.GATEWAY)) {
      StartFailure.checkFree("--listen", listen);
    }
    StartFailure.checkFree("--management-listen", managementListen);
    if (part != null && part.isServing()) {
      StartFailure.checkFree("--cluster-listen", part.clusterListen());
    }
  }

  private List<Path> metadataFolders(
      @Nullable ClusterOptions part, List<Path> dataFolders, Profile parsed) {
    if (part != null && !part.has(ServerRole.METADATA)) {
      return List.of();
    }
    if (metadata != null && !metadata.isBlank()) {
      return FolderPattern.expand(metadata);
    }
    return part == null ? MetadataFolders.choose(dataFolders, parsed) : List.of();
  }
}
