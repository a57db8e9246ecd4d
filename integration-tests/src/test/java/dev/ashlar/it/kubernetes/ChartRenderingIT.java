package dev.ashlar.it.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Commands;
import dev.ashlar.it.harness.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What helm makes of the chart with each value set of helm/test/values, compared with
 * helm/test/golden; with {@code -Dashlar.docs.write=true} that is written instead. Needs {@code
 * helm} on the PATH. Where {@code kubeconform} is on it too, each rendering is valid; {@code
 * KUBECONFORM_SCHEMAS} may name another place of the schemas than the default one in the internet.
 */
class ChartRenderingIT {
  private static final Path HELM = Launch.launcher().resolveSibling("helm");
  private static final Path CHART = HELM.resolve("ashlar");

  /** Resources of others, whose schemas are not among those of Kubernetes. */
  private static final String OF_OTHERS = "Certificate,HTTPRoute,ServiceMonitor,PrometheusRule";

  private static void assumeHelm() {
    assumeTrue(
        Commands.isInstalled("helm"), "helm is not installed: go install helm.sh/helm/v3/cmd/helm");
  }

  static List<Path> valueSets() throws IOException {
    try (Stream<Path> files = Files.list(HELM.resolve("test/values"))) {
      return files.sorted().toList();
    }
  }

  private static Commands.Ended template(Path chart, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of("helm", "template", "store", chart.toString(), "--namespace=objects"));
    command.add("--kube-version=1.34.0");
    command.addAll(List.of(arguments));
    return Commands.tried(command.toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("valueSets")
  void renderings(Path values) throws IOException {
    assumeHelm();
    Commands.run("helm", "lint", "--strict", CHART.toString(), "--values=" + values);
    Commands.Ended rendered = template(CHART, "--values=" + values);
    assertEquals(0, rendered.code(), rendered::output);
    Path golden = HELM.resolve("test/golden").resolve(values.getFileName());
    if (Boolean.getBoolean("ashlar.docs.write")) {
      Files.writeString(golden, rendered.output() + "\n");
    }
    assertEquals(Files.readString(golden), rendered.output() + "\n");
  }

  @ParameterizedTest
  @MethodSource("valueSets")
  void goldenRenderingsAreValid(Path values) {
    assumeTrue(
        Commands.isInstalled("kubeconform"),
        "kubeconform is not installed: go install github.com/yannh/kubeconform/cmd/kubeconform");
    String schemas = System.getenv().getOrDefault("KUBECONFORM_SCHEMAS", "default");
    Commands.run(
        "kubeconform",
        "-strict",
        "-summary",
        "-kubernetes-version=1.34.0",
        "-schema-location=" + schemas,
        "-skip=" + OF_OTHERS,
        HELM.resolve("test/golden").resolve(values.getFileName()).toString());
  }

  /** What is refused, and the word by which the message is known. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '|',
      value = {
        "mode=both, mode",
        "profile=4, profile",
        "profile=6+3, needs 9 drives at least",
        "metadata.replicas=2, metadata/replicas",
        "storage.replicas=0, storage/replicas",
        "storage.drives=0, storage/drives",
        "storage.size=much, storage/size",
        "storage.sise=1Gi, sise",
        "storage.failureDomains.kind=row, kind",
        "storage.resources.limits.memory=512Mi, at least 128 Mi",
        "storage.memory.heap=3Gi, at least 128 Mi",
        "|storage.memory.heap=1Gi,storage.memory.direct=1Gi|, are more than resources.limits.memory",
        "gateway.resources.limits=null, limits",
        "service.type=External, service/type",
        "service.port=0, service/port",
        "options.data=/data, invalid propertyName 'data'",
        "options.Scrub_Rate=1, invalid propertyName 'Scrub_Rate'",
        "logLevel=LOUD, logLevel",
        "securityContext.runAsUser=0, runAsUser",
        "tls.cluster.enabled=true, issuerRef of cert-manager",
        "ingress.enabled=true, ingress.hosts is empty",
        "httpRoute.enabled=true, httpRoute.parentRefs is empty",
        "monitoring.prometheusRule.enabled=true, files/alerts.yaml"
      })
  void wrongValuesAreRefused(String values, String word, @TempDir Path folder) throws IOException {
    assumeHelm();
    Path chart = values.contains("prometheusRule") ? copy(folder, "files/alerts.yaml") : CHART;
    Commands.Ended refused = template(chart, "--set", values);
    assertNotEquals(0, refused.code(), refused::output);
    assertTrue(refused.output().contains(word), refused::output);
  }

  @Test
  void tooFewFoldersOfOnePodAreRefused() {
    assumeHelm();
    Commands.Ended refused = template(CHART, "--set=mode=single,single.foldersPerClaim=4");
    assertTrue(refused.output().contains("profile 4+2 needs 6 drives at least"), refused::output);
  }

  @Test
  void alertsAndDashboardComeFromFiles(@TempDir Path folder) throws IOException {
    assumeHelm();
    Path chart = copy(folder, "files/alerts.yaml");
    Files.writeString(
        chart.resolve("files/alerts.yaml"),
        "groups:\n  - name: a\n    rules:\n      - {alert: Down, expr: '{{ up }} == 0'}\n");
    Files.writeString(chart.resolve("files/dashboard.json"), "{\"title\": \"{{ instance }}\"}");
    Commands.Ended rendered =
        template(
            chart,
            "--show-only=templates/monitoring.yaml",
            "--set=monitoring.prometheusRule.enabled=true,monitoring.dashboard.enabled=true");
    assertEquals(0, rendered.code(), rendered::output);
    assertTrue(rendered.output().contains("alert: Down, expr: '{{ up }} == 0'"), rendered::output);
    assertTrue(rendered.output().contains("\\\"{{ instance }}\\\""), rendered::output);
  }

  /** A chart of its own, without this file. */
  private static Path copy(Path folder, String without) throws IOException {
    Path chart = folder.resolve("ashlar");
    try (Stream<Path> files = Files.walk(CHART)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path to = chart.resolve(CHART.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(to);
        } else if (!file.endsWith(without)) {
          Files.copy(file, to);
        }
      }
    }
    return chart;
  }
}
