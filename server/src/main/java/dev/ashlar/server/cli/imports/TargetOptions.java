package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Side;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the target of an import. */
final class TargetOptions {
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
              + " of a server writes it, if they are not in the environment.")
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

  Side.Access access() throws IOException {
    Credential key =
        Credential.read(System.getenv(), toCredentials, Credential.Names.TARGET, "--credentials");
    return key.at("--to", to, toRegion, toAuthorities);
  }

  @Nullable Path credentials() {
    return toCredentials;
  }

  @Nullable Path authorities() {
    return toAuthorities;
  }
}
