package dev.ashlar.bench.options;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.S3Endpoint;
import java.net.URI;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A server that runs already: one {@code --endpoint} and what belongs to it. */
public final class EndpointOptions {
  @Option(
      names = "--endpoint",
      required = true,
      paramLabel = "URL",
      description = "URL of a running S3 server, for example http://host:9000.")
  private URI url = URI.create("");

  @Option(names = "--name", description = "Name of the server in the results (default: its URL).")
  private @Nullable String name;

  @Option(
      names = "--access-key",
      paramLabel = "KEY",
      description = "Access key (default: $AWS_ACCESS_KEY_ID).")
  private @Nullable String accessKey;

  @Option(
      names = "--secret-key",
      paramLabel = "KEY",
      description =
          "Secret key (default: $AWS_SECRET_ACCESS_KEY). Other users can see command lines.")
  private @Nullable String secretKey;

  @Option(names = "--region", description = "Region (default: us-east-1).")
  private @Nullable String region;

  @Option(
      names = "--pid",
      description = "Process id of a local server, to record its CPU time and memory.")
  private @Nullable Long pid;

  public String name() {
    return Objects.requireNonNullElse(name, url.toString());
  }

  /**
   * @throws BenchException when keys are missing, or there is no such process
   */
  public S3Endpoint endpoint() {
    return new S3Endpoint(
        url,
        given(accessKey, "AWS_ACCESS_KEY_ID", "--access-key"),
        given(secretKey, "AWS_SECRET_ACCESS_KEY", "--secret-key"),
        Objects.requireNonNullElse(region, "us-east-1"),
        pid == null ? null : process(pid));
  }

  private static ProcessHandle process(long pid) {
    return ProcessHandle.of(pid)
        .orElseThrow(() -> new BenchException("There is no process " + pid + "."));
  }

  private String given(@Nullable String option, String variable, String flag) {
    String value = option == null ? System.getenv(variable) : option;
    if (value == null) {
      throw new BenchException("%s needs %s or $%s.".formatted(url, flag, variable));
    }
    return value;
  }
}
