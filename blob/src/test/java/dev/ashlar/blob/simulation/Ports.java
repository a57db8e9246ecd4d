package dev.ashlar.blob.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Ports of which some methods are done otherwise than by what is behind them. */
final class Ports {
  private Ports() {}

  /** One call, for which {@code method.invoke} on what is behind is the usual answer. */
  interface Handler {
    @Nullable Object call(Method method, Object[] arguments) throws Throwable;
  }

  static <T> T of(Class<T> port, Handler handler) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              try {
                return handler.call(method, arguments == null ? new Object[0] : arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
