package dev.ashlar.it.linear;

import dev.ashlar.it.harness.RawConnection.Answer;
import java.nio.ByteBuffer;

/**
 * What was answered.
 *
 * @param what the status and, of an error, its code
 * @param body empty but for reads
 */
record ObjectReply(String what, ByteBuffer body) {
  static final String OK = "200";

  static ObjectReply of(Answer answer) {
    if (answer.status() >= 300) {
      return new ObjectReply(answer.status() + " " + answer.code(), ByteBuffer.allocate(0));
    }
    return new ObjectReply("" + answer.status(), ByteBuffer.wrap(answer.body()));
  }

  boolean isConflict() {
    return what.startsWith("409");
  }

  @Override
  public String toString() {
    return what + (body.hasRemaining() ? " " + body.remaining() + " bytes" : "");
  }
}
