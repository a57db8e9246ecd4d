package dev.ashlar.gateway.http;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.TlsParameters;
import dev.ashlar.protocol.memory.ByteBudget;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A request and the state of serving it. */
final class Exchange implements HttpExchange {
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  final RequestHead head;
  private final Client client;
  private final BodyQueue body;
  private final String requestId;
  private final ByteBudget budget;
  private final @Nullable AuditEvent audit;
  private final String hostId;
  private final @Nullable TlsParameters tls;
  private final AtomicLong reservedBytes = new AtomicLong();
  private @Nullable List<Runnable> endActions;
  // The next two belong to the request's thread.
  private int status;
  private long sentBytes;
  // The fields below belong to the event loop.
  boolean collecting;
  boolean bodyEnded;
  boolean answered;
  // The rest of the body will not arrive.
  boolean broken;
  private boolean continueSent;
  private long bodyBytes;
  private long drainedBytes;
  // Set on the event loop before the thread starts, so that a forced shutdown can interrupt it.
  @Nullable Thread thread;

  /**
   * @param audit null: there is no audit log
   */
  Exchange(
      RequestHead head,
      ClientConnection connection,
      BodyQueue body,
      String requestId,
      ByteBudget budget,
      @Nullable AuditEvent audit) {
    this.head = head;
    this.client = connection.client();
    this.tls = connection.tls();
    this.hostId = connection.hostId();
    this.body = body;
    this.requestId = requestId;
    this.budget = budget;
    this.audit = audit;
  }

  /**
   * What the connection tells about itself.
   *
   * @param tls null: it is not encrypted
   * @param hostId of the server, in answers
   */
  record ClientConnection(Client client, @Nullable TlsParameters tls, String hostId) {}

  /** The answer with this status begins. */
  void answers(int withStatus) {
    status = withStatus;
  }

  /** So many bytes of the answer's body go to the connection. */
  void sends(long bytes) {
    sentBytes += bytes;
  }

  boolean isHead() {
    return head.method().equals("HEAD");
  }

  boolean reserve(long bytes) {
    if (!budget.tryReserve(bytes)) {
      return false;
    }
    reservedBytes.addAndGet(bytes);
    return true;
  }

  void releaseReservation() {
    budget.release(reservedBytes.getAndSet(0));
  }

  /** Queues a piece of the body. */
  void received(ByteBuf piece) {
    bodyBytes += piece.readableBytes();
    if (answered) {
      drainedBytes += piece.readableBytes();
    }
    body.offer(piece);
  }

  /** Body bytes that arrived after the answer and were dropped. */
  long drainedBytes() {
    return drainedBytes;
  }

  boolean wantsBytes() {
    return !bodyEnded && (collecting || answered || body.hasRoom());
  }

  /** Whether 100 Continue has to be sent now; true only once. */
  boolean takeContinue() {
    boolean isDue = head.expectsContinue() && !continueSent && bodyBytes == 0 && !bodyEnded;
    continueSent |= isDue;
    return isDue;
  }

  /**
   * Whether the connection can serve another request after the answer.
   *
   * @param drainBytesMax of the body that may still be missing
   */
  boolean mayKeep(long drainBytesMax) {
    if (!head.persistent() || broken) {
      return false;
    }
    if (bodyEnded) {
      return true;
    }
    // After another answer than 100 Continue, a client may or may not send its body.
    boolean bodyUncertain = head.expectsContinue() && bodyBytes == 0;
    long length = head.bodyLength();
    return !bodyUncertain && length >= 0 && length - bodyBytes <= drainBytesMax;
  }

  /** Runs all of them, also if one of them fails. */
  void runEndActions() {
    if (endActions == null) {
      return;
    }
    for (Runnable action : endActions) {
      try {
        action.run();
      } catch (RuntimeException e) {
        LOG.error("An action at the end of a request failed", e);
      }
    }
  }

  @Override
  public String method() {
    return head.method();
  }

  @Override
  public String rawPath() {
    return head.rawPath();
  }

  @Override
  public String rawQuery() {
    return head.rawQuery();
  }

  @Override
  public HttpHeaders headers() {
    return head.headers();
  }

  @Override
  public Client client() {
    return client;
  }

  @Override
  public BodyQueue body() {
    return body;
  }

  @Override
  public String requestId() {
    return requestId;
  }

  @Override
  public @Nullable AuditEvent audit() {
    return audit;
  }

  @Override
  public @Nullable TlsParameters tls() {
    return tls;
  }

  @Override
  public String hostId() {
    return hostId;
  }

  @Override
  public Outcome outcome() {
    return new Outcome(status, sentBytes);
  }

  @Override
  public void onEnd(Runnable action) {
    if (endActions == null) {
      endActions = new ArrayList<>(1);
    }
    endActions.add(action);
  }
}
