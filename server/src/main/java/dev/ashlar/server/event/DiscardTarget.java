package dev.ashlar.server.event;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.util.concurrent.CompletableFuture;

/** Takes events and forgets them: for a target that is gone, while buckets still name it. */
record DiscardTarget(String arn) implements EventTarget {
  private static final int SENDS_MAX = 256;

  static DiscardTarget of(String arn, TargetFields fields) {
    fields.requireNoOthers();
    return new DiscardTarget(arn);
  }

  @Override
  public int sendsMax() {
    return SENDS_MAX;
  }

  @Override
  public CompletableFuture<Void> send(EventMessage message) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {
    // It has no connection.
  }
}
