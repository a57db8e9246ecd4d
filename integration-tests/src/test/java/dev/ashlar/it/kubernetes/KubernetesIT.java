package dev.ashlar.it.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Python;
import java.io.File;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The chart on a real Kubernetes, with an image made here: {@code helm/test/kubernetes}, which says
 * what it takes from the environment.
 */
class KubernetesIT {
  @Test
  void chartOnKubernetes() throws Exception {
    assumeTrue(
        System.getenv("KUBERNETES_BIN") != null,
        "KUBERNETES_BIN is not set: there is no Kubernetes to install the chart on");
    Path root = Launch.launcher().resolveSibling("");
    Path programs = Python.withClients().programs();
    ProcessBuilder builder = new ProcessBuilder(root + "/helm/test/kubernetes").inheritIO();
    Map<String, String> environment = builder.environment();
    environment.putAll(Launch.ENVIRONMENT);
    environment.put("PATH", programs + File.pathSeparator + environment.get("PATH"));
    assertEquals(0, builder.start().waitFor());
  }
}
