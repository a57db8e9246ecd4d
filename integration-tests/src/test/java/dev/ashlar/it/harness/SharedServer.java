package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands one server, started at first use, to all test classes that do not disturb it. */
public final class SharedServer implements ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SharedServer.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == ServerProcess.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Running.class, key -> new Running(), Running.class)
        .server;
  }

  /** Closed by JUnit when all tests have run. */
  private static final class Running implements AutoCloseable {
    final ServerProcess server =
        ServerProcess.start(
            ServerSpec.named("shared")
                .withLongLife()
                .withOptions(
                    "--access-log-interval=1",
                    "--website-domain=web.test",
                    "--kms-keys=" + kmsKeys()));

    /** A file with the KMS keys "it-1" and "it-2". */
    private static Path kmsKeys() {
      try {
        Path file = Files.createTempFile("kms-keys", ".json");
        file.toFile().deleteOnExit();
        return Files.writeString(file, "{\"keys\": [" + key(1) + ", " + key(2) + "]}");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String key(int number) {
      byte[] key = new byte[32];
      key[0] = (byte) number;
      return "{\"id\": \"it-%d\", \"key\": \"%s\"}"
          .formatted(number, Base64.getEncoder().encodeToString(key));
    }

    @Override
    public void close() {
      server.close();
    }
  }
}
