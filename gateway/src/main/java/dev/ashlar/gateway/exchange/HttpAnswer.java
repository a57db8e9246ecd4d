package dev.ashlar.gateway.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;

/**
 * An answer.
 *
 * @param headers without Content-Length, Date, Server and request ids, which the connection adds; a
 *     HEAD answer that must name a length sets Content-Length itself
 */
public record HttpAnswer(int status, HttpHeaders headers, Body body) {
  public sealed interface Body {}

  /** No body; Content-Length 0 unless the headers name one (HEAD) or the status forbids it. */
  public record Empty() implements Body {}

  /** A body in memory. */
  public record Bytes(byte[] content) implements Body {}

  /**
   * A body that is produced while it is sent, on the request's thread.
   *
   * @param length of exactly the bytes that the writer will send
   */
  public record Streamed(long length, Writer writer) implements Body {}

  /** Produces a streamed body. A failure after the head was sent closes the connection. */
  public interface Writer {
    /**
     * @throws ReplacementAnswerException to send another answer instead, if the head has not been
     *     sent
     */
    void writeTo(AnswerStream out) throws Exception;
  }

  /** The answer became invalid before its head was sent, and there is another one. */
  public static final class ReplacementAnswerException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient HttpAnswer answer;

    public ReplacementAnswerException(HttpAnswer answer, Throwable cause) {
      super(cause);
      this.answer = answer;
    }

    public HttpAnswer answer() {
      return answer;
    }
  }

  /** The body of an answer on its way to the client. */
  public interface AnswerStream {
    /**
     * Hands over the buffer, also when this throws. Blocks while the client has too much unread.
     *
     * @throws IOException when the client has gone or has stalled for too long
     */
    void write(ByteBuf bytes) throws IOException, InterruptedException;
  }
}
