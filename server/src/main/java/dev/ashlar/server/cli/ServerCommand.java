package dev.ashlar.server.cli;

import dev.ashlar.server.admin.ConfigPage;
import dev.ashlar.server.admin.RunningServer;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.LogOptions;
import dev.ashlar.server.config.OptionSources;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.config.Setting;
import dev.ashlar.server.log.ProcessLog;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ashlar server}: a whole store in one process, or one node of a cluster. */
@Command(
    name = "server",
    description =
        "Runs the object store: S3 gateway, storage and metadata in one process, or some of these"
            + " roles as a node of a cluster.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    abbreviateSynopsis = true,
    sortOptions = false,
    showDefaultValues = true,
    footer = {
      "",
      "Root credentials: ASHLAR_ACCESS_KEY and ASHLAR_SECRET_KEY in the environment. A store in one",
      "process generates them at its first start if they are not set.",
      "Every option can also be set by an environment variable (--stripe-unit: ASHLAR_STRIPE_UNIT)",
      "or in the file that --config names (stripe-unit=16384)."
    })
public final class ServerCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);

  /** Returned by {@link #call} when the server has started and keeps running. */
  public static final int RUNNING = -1;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private ServerOptions options = new ServerOptions();

  @Override
  public Integer call() {
    LocalCluster.watchInput();
    try {
      check();
    } catch (IOException e) {
      StartFailure.report(e, System.err);
      return 1;
    }
    ProcessLog.use(options.logs());
    List<Setting> given = OptionSources.settings(Objects.requireNonNull(spec));
    List<String> unknown = OptionSources.unknownOfMinio(System.getenv());
    if (!unknown.isEmpty()) {
      LOG.warn(
          "These variables in the environment mean something to MinIO and nothing here: {}. Remove"
              + " them, or see docs/operate/from-minio.md for what there is in their place.",
          String.join(", ", unknown));
    }
    ApplicationContext context;
    try {
      context = start(options, new ConfigPage(options.settings(given, System.getenv())));
    } catch (RuntimeException e) {
      StartFailure.report(e, System.err);
      return 1;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(context::close, "shutdown"));
    // A standard output that has the audit log has nothing else.
    boolean isAudited = LogOptions.STDOUT.equals(options.logs().auditLog());
    PrintStream out = isAudited ? System.err : System.out;
    context.getBean(RunningServer.class).printStarted(out, !isAudited && Terminal.isOutput());
    printMadeAsForMinio(OptionSources.madeAsForMinio(given), out);
    return RUNNING;
  }

  private static void printMadeAsForMinio(List<Setting> settings, PrintStream out) {
    for (Setting each : settings) {
      out.println("  From MinIO   " + each.name() + " " + each.value() + ", from " + each.from());
    }
    out.flush();
  }

  /** Returns when both ports serve requests. */
  static ApplicationContext start(ServerOptions options, ConfigPage config) {
    Map<String, Object> properties =
        Map.of(
            RunningServer.PROPERTY,
            options.cluster() == null ? RunningServer.EMBEDDED : RunningServer.CLUSTER);
    ApplicationContext context =
        ApplicationContext.builder()
            .banner(false)
            .bootstrapEnvironment(false)
            .singletons(options, config)
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

  /**
   * @throws IOException for what may pass without another option
   */
  private void check() throws IOException {
    try {
      options.check(System.getenv());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(Objects.requireNonNull(spec).commandLine(), e.getMessage(), e);
    }
    if (options.has(ServerRole.GATEWAY)) {
      checkFree("--listen", options.service().listen());
    }
    checkFree("--management-listen", options.service().managementListen());
    ClusterOptions cluster = options.cluster();
    if (cluster != null && cluster.isServing()) {
      StartFailure.checkFree("--cluster-listen", cluster.clusterListen());
    }
  }

  private static void checkFree(String option, List<PortAddress> addresses) throws IOException {
    for (PortAddress each : addresses) {
      StartFailure.checkFree(option, each.endpoint());
    }
  }
}
