package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Side;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.transport.tls.Authorities;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the two object stores. */
final class SideOptions {
  @Option(
      names = "--from",
      paramLabel = "URL",
      required = true,
      description = "The source: http://HOST:PORT or https://HOST:PORT of an S3 service.")
  private URI from = URI.create("");

  @Option(
      names = "--from-credentials",
      paramLabel = "FILE",
      description =
          "File with ASHLAR_SOURCE_ACCESS_KEY=…, ASHLAR_SOURCE_SECRET_KEY=… and, if there is one,"
              + " ASHLAR_SOURCE_SESSION_TOKEN=… of the source. Default: the environment.")
  private @Nullable Path fromCredentials;

  @Option(
      names = "--from-region",
      paramLabel = "NAME",
      defaultValue = "us-east-1",
      description = "Region of the source.")
  private String fromRegion = "";

  @Option(
      names = "--from-ca",
      paramLabel = "FILE",
      description =
          "Certificate authorities, in PEM, that the source's certificate must come from. Default:"
              + " the public ones that Java knows.")
  private @Nullable Path fromAuthorities;

  @Option(
      names = "--to",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:9000",
      description = "The target: the S3 port of Ashlar.")
  private URI to = URI.create("");

  @Option(
      names = "--credentials",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CREDENTIALS}",
      description =
          "File with ASHLAR_ACCESS_KEY=… and ASHLAR_SECRET_KEY=… of the target, as the first start"
              + " of a server writes it. Default: the environment.")
  private @Nullable Path toCredentials;

  @Option(
      names = "--to-region",
      paramLabel = "NAME",
      defaultValue = "us-east-1",
      description = "Region of the target.")
  private String toRegion = "";

  @Option(
      names = "--to-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ASHLAR_CA}",
      description =
          "Certificate authorities, in PEM, that the target's certificate must come from. Default:"
              + " the public ones that Java knows.")
  private @Nullable Path toAuthorities;

  Side source(int connections) throws IOException {
    Credential key =
        Credential.read(
            System.getenv(), fromCredentials, Credential.Names.SOURCE, "--from-credentials");
    return side("--from", from, fromRegion, key, fromAuthorities, connections);
  }

  Side target(int connections) throws IOException {
    Credential key =
        Credential.read(System.getenv(), toCredentials, Credential.Names.TARGET, "--credentials");
    return side("--to", to, toRegion, key, toAuthorities, connections);
  }

  private static Side side(
      String option,
      URI endpoint,
      String region,
      Credential key,
      @Nullable Path authorities,
      int connections)
      throws IOException {
    OptionTypes.require(
        ("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
            && endpoint.getHost() != null,
        "%s must be http://HOST:PORT or https://HOST:PORT, not %s",
        option,
        endpoint);
    return new Side(
        new Side.Access(
            endpoint,
            region,
            key.accessKey(),
            key.secretKey(),
            key.sessionToken(),
            authorities == null ? null : Authorities.read(authorities).trustManagers()),
        connections);
  }
}
