package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Keeps what it is sent. */
final class MemoryTarget implements EventTarget {
  final List<String> messages = new ArrayList<>();
  boolean isDown;
  private final String arn;

  MemoryTarget(String arn) {
    this.arn = arn;
  }

  @Override
  public String arn() {
    return arn;
  }

  @Override
  public int sendsMax() {
    return 1;
  }

  @Override
  public CompletableFuture<Void> send(EventMessage message) {
    if (isDown) {
      return CompletableFuture.failedFuture(new IOException("password hunter2 is wrong"));
    }
    messages.add(new String(message.json(), StandardCharsets.UTF_8));
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {}
}
