package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage.Outcome;
import java.nio.charset.StandardCharsets;

/** How a call ended. */
public record CallAnswer(Outcome outcome, byte[] body) {
  public static CallAnswer done(byte[] body) {
    return new CallAnswer(Outcome.DONE, body);
  }

  /** Of an outcome that comes with a reason. */
  public static CallAnswer because(Outcome outcome, String why) {
    return new CallAnswer(outcome, why.getBytes(StandardCharsets.UTF_8));
  }

  /** The reason; may be anything when it was not given as text. */
  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
