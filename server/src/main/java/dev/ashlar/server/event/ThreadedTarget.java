package dev.ashlar.server.event;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A target whose client may block while it connects. A thread of its own hands messages to it, so
 * that it holds up nobody else.
 */
abstract class ThreadedTarget implements EventTarget {
  private static final int SENDS_MAX = 256;

  private final String arn;
  private final ExecutorService thread;

  ThreadedTarget(String arn, String name) {
    this.arn = arn;
    this.thread =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().name("event-target-" + name).daemon().factory());
  }

  /**
   * Hands a message to the client, on this target's thread.
   *
   * @param sent is completed when the target has acknowledged
   */
  abstract void publish(EventMessage message, CompletableFuture<Void> sent) throws Exception;

  /** Ends the connection, on this target's thread. */
  abstract void disconnect() throws Exception;

  @Override
  public final String arn() {
    return arn;
  }

  @Override
  public final int sendsMax() {
    return SENDS_MAX;
  }

  @Override
  public final CompletableFuture<Void> send(EventMessage message) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    thread.execute(
        () -> {
          if (!sent.isDone()) { // else it was given up meanwhile
            try {
              publish(message, sent);
            } catch (Exception e) {
              sent.completeExceptionally(e);
            }
          }
        });
    return sent;
  }

  @Override
  public final void close() {
    thread.execute(
        () -> {
          try {
            disconnect();
          } catch (Exception e) {
            // The process ends: the connection ends with it.
          }
        });
    thread.shutdown();
  }
}
