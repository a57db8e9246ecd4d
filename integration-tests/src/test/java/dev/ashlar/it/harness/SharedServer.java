package dev.ashlar.it.harness;

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
                .withOptions("--access-log-interval=1", "--website-domain=web.test"));

    @Override
    public void close() {
      server.close();
    }
  }
}
