package dev.ashlar.gateway.exchange;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** A request whose head has been parsed; used by one virtual thread only. */
public interface HttpExchange {
  /** In capitals, as sent. */
  String method();

  /** The path as sent, percent-encoded, without the query; begins with a slash. */
  String rawPath();

  /** What follows the question mark as sent; empty when there is none. */
  String rawQuery();

  HttpHeaders headers();

  /** The body as it came over the wire, transfer coding removed. */
  RequestBody body();

  Client client();

  /** Sixteen hexadecimal digits; sent back as x-amz-request-id. */
  String requestId();

  /** What the audit log is going to tell about the request; null: there is no audit log. */
  default @Nullable AuditEvent audit() {
    return null;
  }

  /** How the connection is encrypted; null: it is not. */
  default @Nullable TlsParameters tls() {
    return null;
  }

  /** Sent back as x-amz-id-2. */
  default String hostId() {
    return "";
  }

  /** What was sent as the answer; complete when the actions of {@link #onEnd} run. */
  default Outcome outcome() {
    return Outcome.NONE;
  }

  /**
   * What was sent of an answer.
   *
   * @param status 0: nothing yet
   * @param bodyBytes that were handed to the connection
   */
  record Outcome(int status, long bodyBytes) {
    static final Outcome NONE = new Outcome(0, 0);
  }

  /**
   * Registers an action for the request's thread, run when the handler and the writer of the answer
   * have ended in any way. Decorators of bodies release unread buffers so.
   */
  void onEnd(Runnable action);

  /** Serves one request on the virtual thread that owns it. */
  interface RequestHandler {
    /** Answers the request; an exception is rendered as S3's error document. */
    HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException;
  }

  /** The body of a request. Decorators verify signatures and checksums. */
  interface RequestBody {
    /** The number of bytes that this body has, or -1 if it is unknown. */
    long length();

    /**
     * Waits for the next bytes; the caller releases the buffer.
     *
     * @return null at the end of a body that arrived whole and verified
     * @throws S3Exception when it ends early, takes too long, or does not match what was promised
     */
    @Nullable ByteBuf read() throws S3Exception, InterruptedException;
  }
}
