package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.Role;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A call of another process, to be answered once, by any thread. */
public final class IncomingCall {
  private final CallServerConnection connection;
  private final Role caller;
  private final Method method;
  private final long id;
  private final long deadlineNanos;
  private final MessageAssembler parcel;
  private final AtomicBoolean isAnswered = new AtomicBoolean();

  IncomingCall(
      CallServerConnection connection,
      Role caller,
      Method method,
      long id,
      int timeoutMillis,
      MessageAssembler parcel) {
    this.connection = connection;
    this.caller = caller;
    this.method = method;
    this.id = id;
    this.deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    this.parcel = parcel;
  }

  long id() {
    return id;
  }

  MessageAssembler parcel() {
    return parcel;
  }

  /** What the caller is; it has proved to belong to the cluster. */
  public Role caller() {
    return caller;
  }

  public Method method() {
    return method;
  }

  public byte[] body() {
    return parcel.bytes();
  }

  /** When the caller gives up, of {@link System#nanoTime}. */
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** Sends the answer, if anybody is there to hear it. */
  public void answer(CallAnswer answer) {
    if (isAnswered.compareAndSet(false, true)) {
      connection.answer(this, answer);
    }
  }
}
