package dev.ashlar.it.harness;

import dev.ashlar.transport.tls.TestAuthority;
import dev.ashlar.transport.tls.TlsFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Hands one cluster, started at first use, to all test classes that leave it as it was. They kill
 * its nodes, so each is {@code @Execution(SAME_THREAD)}: that runs one after the other, and no
 * thread waits for them. The processes speak to each other over mutual TLS only.
 */
public final class SharedCluster implements ParameterResolver {
  public static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "3", "--gateways", "2", "--profile", "2+2");

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SharedCluster.class);

  /**
   * What all its processes have.
   *
   * @param authority has issued them
   */
  public record Certificates(TestAuthority authority, TlsFiles files) {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == ClusterProcess.class || type == Certificates.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Running running =
        context
            .getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(Running.class, key -> Running.start(), Running.class);
    return parameter.getParameter().getType() == ClusterProcess.class
        ? running.cluster
        : running.certificates;
  }

  /** Closed by JUnit when all tests have run; that it does not end cleanly is a failure. */
  private record Running(Path folder, Certificates certificates, ClusterProcess cluster)
      implements AutoCloseable {
    static Running start() {
      try {
        Path folder = Files.createTempDirectory("shared-cluster");
        TestAuthority authority = new TestAuthority(folder, "authority");
        TlsFiles files = authority.files("node");
        List<String> shape = new ArrayList<>(SHAPE);
        shape.addAll(List.of("--cluster-tls-cert", files.certificates().toString()));
        shape.addAll(List.of("--cluster-tls-key", files.key().toString()));
        shape.addAll(List.of("--cluster-tls-ca", files.authorities().toString()));
        return new Running(
            folder, new Certificates(authority, files), ClusterProcess.start("cluster", shape));
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      try (cluster) {
        cluster.stop();
      }
      ServerProcess.deleteRecursively(folder);
    }
  }
}
