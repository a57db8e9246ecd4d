package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage.Outcome;
import java.nio.charset.StandardCharsets;

/** How a call ended. */
public record CallAnswer(Outcome outcome, byte[] body) {
  public static CallAnswer done(byte[] body) {
    return new CallAnswer(Outcome.DONE, body);
  }

  /** An outcome with a reason. */
  public static CallAnswer because(Outcome outcome, String why) {
    return new CallAnswer(outcome, why.getBytes(StandardCharsets.UTF_8));
  }

  /** The reason; meaningless unless the outcome comes with one. */
  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
