package dev.ashlar.server.cli;

import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says why the server did not start, in the words of what the user can change. */
final class StartFailure {
  private static final Logger LOG = LoggerFactory.getLogger(StartFailure.class);

  private StartFailure() {}

  /**
   * @throws IOException naming the option and a free port when an address is taken or is not of
   *     this machine; either may pass
   */
  static void checkFree(String option, Endpoint address) throws IOException {
    if (address.port() == 0) {
      return;
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address.socketAddress());
    } catch (IOException e) {
      throw new IOException(
          "%s cannot be listened on (%s); choose another with %s%s"
              .formatted(address, e.getMessage(), option, freePort(address.host())),
          e);
    }
  }

  private static String freePort(String host) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new Endpoint(host, 0).socketAddress());
      return ", for example " + new Endpoint(host, socket.getLocalPort());
    } catch (IOException e) {
      return "";
    }
  }

  /** What was wrong, then what that came from, a line each; the stack only at debug level. */
  static void report(Throwable failure, PrintStream out) {
    LOG.debug("start failed", failure);
    List<String> reasons = new ArrayList<>();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = cause.getMessage();
      boolean isSaid = message == null || reasons.stream().anyMatch(r -> r.contains(message));
      if (!isSaid && !isWiring(cause)) {
        reasons.add(message);
      }
    }
    out.print("ashlar: the server could not start: ");
    if (reasons.isEmpty()) {
      failure.printStackTrace(out);
    } else {
      out.println(String.join("\n  ", reasons));
    }
  }

  /** The container's account of which bean needed which says nothing to a user. */
  private static boolean isWiring(Throwable cause) {
    return cause.getClass().getName().startsWith("io.micronaut.context.exceptions.");
  }
}
