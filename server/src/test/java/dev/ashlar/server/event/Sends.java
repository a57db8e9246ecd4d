package dev.ashlar.server.event;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Sends messages to a target, and waits. */
final class Sends {
  static final String KEY = "bkt/kéy";
  static final String JSON = "{\"Records\":[\"ü\"]}";

  private Sends() {}

  static EventMessage message() {
    return new EventMessage(KEY, JSON.getBytes(StandardCharsets.UTF_8));
  }

  static void succeeds(EventTarget target) throws Exception {
    target.send(message()).get(1, TimeUnit.MINUTES);
  }

  /** Returns why it fails. */
  static String fails(EventTarget target) {
    ExecutionException e =
        assertThrows(
            ExecutionException.class, () -> target.send(message()).get(1, TimeUnit.MINUTES));
    return String.valueOf(e.getCause());
  }
}
