package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Side;
import dev.ashlar.server.config.OptionTypes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the source of an import. */
final class SourceOptions {
  @Option(
      names = "--from",
      paramLabel = "URL",
      description = "The source: http://HOST:PORT or https://HOST:PORT of an S3 service.")
  private @Nullable URI from;

  @Option(
      names = "--from-credentials",
      paramLabel = "FILE",
      description =
          "File with ASHLAR_SOURCE_ACCESS_KEY=…, ASHLAR_SOURCE_SECRET_KEY=… and, if there is one,"
              + " ASHLAR_SOURCE_SESSION_TOKEN=… of the source, if they are not in the environment.")
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

  Side.Access access() throws IOException {
    OptionTypes.require(from != null, "--from has to name the source");
    Credential key =
        Credential.read(
            System.getenv(), fromCredentials, Credential.Names.SOURCE, "--from-credentials");
    return key.at("--from", Objects.requireNonNull(from), fromRegion, fromAuthorities);
  }
}
