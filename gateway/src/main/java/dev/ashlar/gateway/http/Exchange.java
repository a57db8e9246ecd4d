package dev.ashlar.gateway.http;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One request on its way through a connection. */
final class Exchange implements HttpExchange {
  private final RequestHead head;
  private final BodyQueue body;
  private final String requestId;
  private final ByteBudget budget;
  private final AtomicLong reservedBytes;
  private @Nullable List<Runnable> endActions;
  // Set on the event loop before the thread starts, so that a forced shutdown can interrupt it.
  @Nullable Thread thread;

  /**
   * @param reservedBytes already taken from the budget
   */
  Exchange(
      RequestHead head, BodyQueue body, String requestId, ByteBudget budget, long reservedBytes) {
    this.head = head;
    this.body = body;
    this.requestId = requestId;
    this.budget = budget;
    this.reservedBytes = new AtomicLong(reservedBytes);
  }

  RequestHead head() {
    return head;
  }

  BodyQueue queue() {
    return body;
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

  void runEndActions() {
    if (endActions != null) {
      endActions.forEach(Runnable::run);
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
  public RequestBody body() {
    return body;
  }

  @Override
  public String requestId() {
    return requestId;
  }

  @Override
  public void onEnd(Runnable action) {
    if (endActions == null) {
      endActions = new ArrayList<>(1);
    }
    endActions.add(action);
  }
}
