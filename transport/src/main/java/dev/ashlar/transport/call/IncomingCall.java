package dev.ashlar.transport.call;

import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.Role;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A call of another process, to be answered once by any thread. */
public final class IncomingCall {
  private final CallServerSession session;
  private final Role caller;
  private final Method method;
  final long id;
  private final long deadlineNanos;
  private final @Nullable TraceContext trace;
  final MessageAssembler assembler;
  private final AtomicBoolean isAnswered = new AtomicBoolean();

  IncomingCall(
      CallServerSession session,
      Role caller,
      Method method,
      long id,
      int timeoutMillis,
      @Nullable TraceContext trace,
      MessageAssembler assembler) {
    this.session = session;
    this.caller = caller;
    this.method = method;
    this.id = id;
    this.deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    this.trace = trace;
    this.assembler = assembler;
  }

  /** The role of the caller, which has authenticated as a member of the cluster. */
  public Role caller() {
    return caller;
  }

  public Method method() {
    return method;
  }

  public byte[] body() {
    return assembler.bytes();
  }

  /** When the caller gives up, in terms of {@link System#nanoTime}. */
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** The span of the caller that waits for the answer; null: it is not traced. */
  public @Nullable TraceContext trace() {
    return trace;
  }

  /** Sends the answer if the caller is still connected. */
  public void answer(CallAnswer answer) {
    if (isAnswered.compareAndSet(false, true)) {
      session.answer(this, answer);
    }
  }
}
