package dev.ashlar.gateway.notification;

import java.util.concurrent.CompletableFuture;

/** Somebody who is told of events, as the operator has configured. For many threads. */
public interface EventTarget extends AutoCloseable {
  /** By which configurations of buckets name it. */
  String arn();

  /** How many messages it may be sent at a time. */
  int sendsMax();

  /**
   * Sends a message. Returns at once; connections are made when they are needed.
   *
   * @return completes when the target has acknowledged; fails if it has refused, or did not answer.
   *     To cancel it gives it up. The message of a failure has no secrets
   */
  CompletableFuture<Void> send(EventMessage message);

  /** Ends its connections. */
  @Override
  void close();
}
