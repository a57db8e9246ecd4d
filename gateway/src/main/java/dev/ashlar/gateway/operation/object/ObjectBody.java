package dev.ashlar.gateway.operation.object;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpAnswer.AnswerStream;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.operation.shared.ShardByteBuf;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer that contains an object. A short one is read before the answer is made. For
 * a long one the connection sends the head with the first bytes, so that an early failure is still
 * answered with an error, and an object that was replaced meanwhile is opened again.
 */
final class ObjectBody {
  private static final int READ_AHEAD_MAX = 64 << 10;

  private final Queue<ShardData> pieces = new ArrayDeque<>();

  private ObjectBody() {}

  /** Makes a new answer from the current version of the object. */
  interface Reopening {
    HttpAnswer reopen(DataUnavailableException gone) throws S3Exception, InterruptedException;
  }

  /** Opens the body; the exchange releases at its end what was not sent. */
  static HttpAnswer.Body open(
      HttpExchange exchange, ObjectContent content, ByteRange range, Reopening reopening)
      throws DataUnavailableException, InterruptedException {
    if (range.isEmpty()) {
      return new HttpAnswer.Empty();
    }
    if (range.length() > READ_AHEAD_MAX) {
      return new HttpAnswer.Streamed(range.length(), out -> stream(content, range, reopening, out));
    }
    ObjectBody body = new ObjectBody();
    try {
      content.read(range, body.pieces::add);
    } catch (DataUnavailableException | InterruptedException | RuntimeException e) {
      body.release();
      throw e;
    }
    exchange.onEnd(body::release);
    return new HttpAnswer.Streamed(range.length(), body::writeTo);
  }

  private void writeTo(AnswerStream out) throws IOException, InterruptedException {
    for (ShardData piece = pieces.poll(); piece != null; piece = pieces.poll()) {
      out.write(new ShardByteBuf(piece));
    }
  }

  private void release() {
    pieces.forEach(ShardData::release);
    pieces.clear();
  }

  private static void stream(
      ObjectContent content, ByteRange range, Reopening reopening, AnswerStream out)
      throws S3Exception, HttpAnswer.ReplacementAnswerException, IOException, InterruptedException {
    Receiver receiver = new Receiver(out);
    try {
      content.read(range, receiver::accept);
    } catch (DataUnavailableException e) {
      if (receiver.failure != null) {
        throw receiver.failure;
      }
      if (e.reason() == Reason.GONE) {
        throw new HttpAnswer.ReplacementAnswerException(reopening.reopen(e), e);
      }
      throw ErrorMapping.of(e);
    }
  }

  /** Sends pieces, and keeps the reason if that fails. */
  private static final class Receiver {
    private final AnswerStream out;
    private @Nullable IOException failure;

    Receiver(AnswerStream out) {
      this.out = out;
    }

    void accept(ShardData piece) throws DataUnavailableException, InterruptedException {
      try {
        out.write(new ShardByteBuf(piece));
      } catch (IOException e) {
        failure = e;
        throw new DataUnavailableException(Reason.CANCELLED, "the client has gone");
      }
    }
  }
}
