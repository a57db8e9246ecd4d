package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.Side;
import dev.ashlar.importer.iam.IamImport;
import dev.ashlar.importer.iam.MinioExport;
import dev.ashlar.importer.iam.SignedIam;
import dev.ashlar.server.cli.Version;
import dev.ashlar.server.cli.admin.AdminClient;
import dev.ashlar.server.config.OptionTypes;
import dev.ashlar.server.config.PortAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ashlar import iam}: users, groups, policies and access keys of MinIO. */
@Command(
    name = "iam",
    description = {
      "Makes the users, groups, policies and service accounts of an export of MinIO, with their"
          + " access keys and secrets.",
      "The file is made by: mc admin cluster iam export ALIAS. It contains all secrets."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false)
final class ImportIamCommand implements Callable<Integer> {
  private static final int FAILED = 1;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "The export, a zip file.")
  private Path file = Path.of("");

  @Mixin private final TargetOptions to = new TargetOptions();

  @Option(
      names = "--management",
      paramLabel = "ADDRESS",
      converter = OptionTypes.Address.class,
      defaultValue = "${env:ASHLAR_MANAGEMENT_LISTEN:-127.0.0.1:9001}",
      description =
          "Management port of a gateway: HOST:PORT, http://HOST:PORT or https://HOST:PORT."
              + " HTTPS if --to is; without TLS only on loopback. Default: ${DEFAULT-VALUE}.")
  private @Nullable PortAddress management;

  /** Secrets of all users go there: not in clear over a network. */
  private PortAddress port(URI target) throws IOException {
    boolean isTls = "https".equals(target.getScheme()) || to.authorities() != null;
    PortAddress port =
        Objects.requireNonNull(management)
            .orElse(isTls ? PortAddress.Scheme.HTTPS : PortAddress.Scheme.HTTP);
    if (!port.isTls() && !InetAddress.getByName(port.endpoint().host()).isLoopbackAddress()) {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          "--management "
              + port
              + " would get all secrets without TLS: name it https://, or run the command on its"
              + " machine");
    }
    return port;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Side.Access access;
    try {
      access = to.access();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(), String.valueOf(e.getMessage()));
    }
    PortAddress port = port(access.endpoint());
    MinioExport export = MinioExport.read(file);
    AdminClient admin = new AdminClient(to.credentials(), to.authorities());
    try (SignedIam iam = new SignedIam(access)) {
      IamImport run =
          new IamImport(
              iam,
              (user, accessKey, secretKey, isEnabled) ->
                  admin.post(
                      port,
                      "/admin/user-key-put",
                      Map.of(
                          "user",
                          user,
                          "accessKey",
                          accessKey,
                          "secretKey",
                          secretKey,
                          "enabled",
                          isEnabled)),
              new TerminalJournal());
      run.run(export);
      System.out.printf(
          "Users, groups and policies made: %d. Failed: %d.%n", run.made(), run.failed());
      return run.failed() == 0 ? 0 : FAILED;
    }
  }
}
