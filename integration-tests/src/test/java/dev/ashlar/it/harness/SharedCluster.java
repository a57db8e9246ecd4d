package dev.ashlar.it.harness;

import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands one cluster, started at first use, to all test classes that leave it as it was. */
public final class SharedCluster implements ParameterResolver {
  public static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "3", "--gateways", "2", "--profile", "2+2");

  /** Of classes that kill its nodes. */
  public static final String LOCK = "dev.ashlar.it.cluster";

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SharedCluster.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == ClusterProcess.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Running.class, key -> new Running(), Running.class)
        .cluster;
  }

  /** Closed by JUnit when all tests have run; that it does not end cleanly is a failure. */
  private static final class Running implements AutoCloseable {
    final ClusterProcess cluster = ClusterProcess.start("cluster", SHAPE);

    @Override
    public void close() {
      try (cluster) {
        cluster.stop();
      }
    }
  }
}
