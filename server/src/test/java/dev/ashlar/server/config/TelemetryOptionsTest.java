package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TelemetryOptionsTest {
  @TempDir private Path folder = Path.of("");

  private TelemetryOptions parse(Map<String, String> environment, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--data=" + folder + "/d{1...6}");
    return ServerOptions.parse(environment, all.toArray(String[]::new)).telemetry();
  }

  @Test
  void nothingIsSentUnlessAsked() {
    TelemetryOptions options = parse(Map.of());
    assertNull(options.endpoint());
    assertNull(options.traceRatio());
  }

  @Test
  void theVariablesOfOpenTelemetryCount() {
    Map<String, String> environment =
        Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318/base",
            "OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem",
            "OTEL_SERVICE_NAME", "photos",
            "OTEL_METRIC_EXPORT_INTERVAL", "15000",
            "OTEL_TRACES_SAMPLER", "parentbased_traceidratio",
            "OTEL_TRACES_SAMPLER_ARG", "0.25");
    TelemetryOptions options = parse(environment);
    assertEquals(URI.create("https://collector:4318/base"), options.endpoint());
    assertEquals(Path.of("/ca.pem"), options.authorities());
    assertEquals("photos", options.service());
    assertEquals(Duration.ofSeconds(15), options.metricsInterval());
    assertEquals(0.25, options.traceRatio());
    assertEquals(0.5, parse(environment, "--trace-ratio=0.5").traceRatio());
  }

  @Test
  void thoseMeantForOtherProgramsDoNot() {
    Map<String, String> ofAnotherSampler =
        Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318",
            "OTEL_TRACES_SAMPLER", "jaeger_remote",
            "OTEL_TRACES_SAMPLER_ARG", "endpoint=http://sampler:14250");
    assertNull(parse(ofAnotherSampler).traceRatio());
    assertNull(parse(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")).endpoint());
    Map<String, String> off =
        Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", "OTEL_SDK_DISABLED", "true");
    assertNull(parse(off).endpoint());
  }

  /** Otherwise a ratio meant for other programs would be refused. */
  @Test
  void withoutACollectorTheyDoNot() {
    TelemetryOptions options =
        parse(Map.of("OTEL_TRACES_SAMPLER_ARG", "0.25", "OTEL_SERVICE_NAME", "photos"));
    assertNull(options.traceRatio());
    assertEquals("ashlar", options.service());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--otlp-endpoint=collector:4318",
        "--otlp-endpoint=ftp://collector",
        "--otlp-endpoint=http://name:password@collector:4318",
        "--otlp-endpoint=http://collector?key=secret",
        "--trace-ratio=0.5",
        "--trace-ratio=1.5 --otlp-endpoint=http://collector:4318",
        "--trace-ratio=-1 --otlp-endpoint=http://collector:4318",
        "--trace-ratio=NaN --otlp-endpoint=http://collector:4318",
        "--otlp-metrics-interval=-1",
        "--otlp-service= ",
      })
  void wrongValuesAreRefused(String arguments) {
    String[] given = arguments.split(" --", -1);
    for (int i = 1; i < given.length; i++) {
      given[i] = "--" + given[i];
    }
    RuntimeException refusal = assertThrows(RuntimeException.class, () -> parse(Map.of(), given));
    assertTrue(
        String.valueOf(refusal.getMessage()).contains(given[0].substring(0, given[0].indexOf('='))),
        refusal::toString);
    assertFalse(String.valueOf(refusal.getMessage()).contains("password"), refusal::toString);
  }

  @Test
  void headersAreInAFileOrInTheEnvironment() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("headers"),
            "# of the collector\n\nAuthorization=Bearer a=b\nx-team=s3\n");
    Map<String, String> environment =
        Map.of("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20c%3Dd, x-team = four+4");
    assertEquals(
        Map.of("Authorization", "Bearer a=b", "x-team", "s3"),
        OtelVariables.headers(file, environment));
    assertEquals(
        Map.of("authorization", "Bearer c=d", "x-team", "four+4"),
        OtelVariables.headers(null, environment));
    assertEquals(Map.of(), OtelVariables.headers(null, Map.of()));
  }

  @Test
  void aWrongHeaderIsNamedButNotShown() throws Exception {
    Path file = Files.writeString(folder.resolve("headers"), "x-team=s3\nBearer secret\n");
    IOException refusal =
        assertThrows(IOException.class, () -> OtelVariables.headers(file, Map.of()));
    assertEquals(file + ", line 2: NAME=VALUE is expected", refusal.getMessage());
    IOException other =
        assertThrows(
            IOException.class,
            () ->
                OtelVariables.headers(
                    null, Map.of("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret%0Aline")));
    assertFalse(String.valueOf(other.getMessage()).contains("secret"), other::toString);
  }

  @Test
  void theEnvironmentDescribesTheProcess() {
    assertEquals(
        Map.of("deployment.environment.name", "pro duction", "k8s.pod.name", "gw-1"),
        OtelVariables.resourceAttributes(
            Map.of(
                "OTEL_RESOURCE_ATTRIBUTES",
                "deployment.environment.name=pro%20duction,k8s.pod.name=gw-1,,broken")));
  }
}
