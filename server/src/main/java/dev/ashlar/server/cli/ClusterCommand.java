package dev.ashlar.server.cli;

import dev.ashlar.protocol.model.Profile;
import dev.ashlar.server.config.ClusterTlsOptions;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.config.TlsOptions;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ashlar cluster}: a cluster of real processes on this machine, to try and to test with. */
@Command(
    name = "cluster",
    description = {
      "Runs a cluster on this machine: each node is a process of its own, on loopback ports.",
      "Ctrl-C ends all of them. The next start on the same folder goes on with the data."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false)
public final class ClusterCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--nodes", paramLabel = "COUNT", description = "Storage nodes. Default: 6.")
  private @Nullable Integer storageNodes;

  @Option(names = "--metadata", paramLabel = "COUNT", description = "1, 3 or 5. Default: 3.")
  private @Nullable Integer metadataNodes;

  @Option(names = "--gateways", paramLabel = "COUNT", description = "Default: 1.")
  private @Nullable Integer gateways;

  @Option(names = "--profile", paramLabel = "K+M", description = "Of the data. Default: 4+2.")
  private @Nullable String profile;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      defaultValue = "./data/cluster",
      description = "Where everything is kept. Default: ${DEFAULT-VALUE}.")
  private Path folder = Path.of("");

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description =
          "Of the first gateway; the ports from there, 100 and 200 behind it are used. Default: 9000.")
  private @Nullable Integer port;

  @Mixin private final TlsOptions tls = new TlsOptions();
  @Mixin private final ClusterTlsOptions clusterTls = new ClusterTlsOptions();

  @Override
  public Integer call() throws Exception {
    ClusterPlan plan = plan();
    List<CertificateFiles> certificates = checked(tls::certificates);
    RootCredential credential = prepare(plan, checked(clusterTls::files), certificates);
    System.out.println(
        "Starting " + plan.processes().size() + " processes, whose logs are in " + plan.folder());
    Class<?> mainClass = Objects.requireNonNull(spec).root().userObject().getClass();
    LocalCluster cluster = new LocalCluster(plan, certificates, mainClass);
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::close, "shutdown"));
    try {
      cluster.awaitReady();
    } catch (IOException e) {
      System.err.println("ashlar: the cluster could not start: " + e.getMessage());
      return 1;
    }
    print(plan, cluster, credential, System.out);
    for (var ended = cluster.awaitEnd(); ended.isPresent(); ended = cluster.awaitEnd()) {
      ClusterPlan.Member process = ended.get().process();
      System.out.printf(
          "%s has ended with %d; to start it again: ./ashlar server --config %s%n",
          process.name(), ended.get().code(), process.config());
    }
    return 0;
  }

  private ClusterPlan plan() throws IOException {
    try {
      ClusterPlan plan =
          ClusterPlan.of(
              folder.toAbsolutePath().normalize(),
              new ClusterPlan.Wish(storageNodes, metadataNodes, gateways, profile, port));
      int shards = Profile.parse(plan.profile(), 0).shards();
      OptionTypes.require(
          plan.storageNodes() >= shards,
          "profile %s needs at least --nodes %s",
          plan.profile(),
          shards);
      for (ClusterPlan.Member process : plan.processes()) {
        if (process.role() == ServerRole.GATEWAY) {
          StartFailure.checkFree("--port", process.listen());
        }
        StartFailure.checkFree("--port", process.management());
        StartFailure.checkFree("--port", process.clusterListen());
      }
      return plan;
    } catch (IllegalArgumentException | IOException e) {
      throw refused(e);
    }
  }

  private RootCredential prepare(
      ClusterPlan plan, @Nullable TlsFiles clusterTls, List<CertificateFiles> certificates)
      throws IOException {
    try {
      return plan.prepare(clusterTls, certificates);
    } catch (IllegalArgumentException e) {
      throw refused(e);
    }
  }

  private <T extends @Nullable Object> T checked(Supplier<T> option) {
    try {
      return option.get();
    } catch (IllegalArgumentException e) {
      throw refused(e);
    }
  }

  private ParameterException refused(Exception why) {
    CommandSpec command = Objects.requireNonNull(spec);
    return new ParameterException(command.commandLine(), why.getMessage(), why);
  }

  private static void print(
      ClusterPlan plan, LocalCluster cluster, RootCredential credential, PrintStream out) {
    out.println("The cluster is ready: profile " + plan.profile());
    for (ClusterPlan.Member process : plan.processes()) {
      boolean isGateway = process.role() == ServerRole.GATEWAY;
      out.printf(
          "  %-12s pid %d, %s/health%s%n",
          process.name(),
          cluster.pid(process),
          cluster.url(process.management()),
          isGateway ? ", S3 " + cluster.url(process.listen()) : "");
    }
    out.println("  Credentials  " + credential.told());
    ClusterPlan.Member first = plan.processes().getFirst();
    String endpoint = cluster.url(first.listen()).toString();
    out.println("  Try          " + credential.awsLine("us-east-1", endpoint));
    out.println(
        "  Admin        ./ashlar admin status --management " + cluster.url(first.management()));
    out.println("Ctrl-C ends all of these processes.");
    out.flush();
  }
}
