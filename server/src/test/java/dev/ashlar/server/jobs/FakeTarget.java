package dev.ashlar.server.jobs;

import dev.ashlar.gateway.notification.EventMessage;
import dev.ashlar.gateway.notification.EventTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keeps the sequencers of what it got, by key; does with each message what it is told. */
final class FakeTarget implements EventTarget {
  private static final Pattern SEQUENCER = Pattern.compile("\"sequencer\":\"([0-9A-F]+)\"");

  final Map<String, List<String>> got = new LinkedHashMap<>();
  final List<CompletableFuture<Void>> hanging = new ArrayList<>();
  int attempts;
  boolean isHanging;

  /** Of keys; such a message gets no answer. */
  Predicate<String> hangs = key -> false;

  /** Of keys; such a message fails. */
  Predicate<String> fails = key -> false;

  /** Of keys; such a message arrives, but its answer is lost. */
  Predicate<String> losesAnswer = key -> false;

  private final String arn;

  FakeTarget(String arn) {
    this.arn = arn;
  }

  @Override
  public String arn() {
    return arn;
  }

  @Override
  public int sendsMax() {
    return 16;
  }

  @Override
  public CompletableFuture<Void> send(EventMessage message) {
    attempts++;
    if (isHanging || hangs.test(message.key())) {
      CompletableFuture<Void> never = new CompletableFuture<>();
      hanging.add(never);
      return never;
    }
    if (fails.test(message.key())) {
      return CompletableFuture.failedFuture(new IOException("it fails\nas told"));
    }
    Matcher sequencer = SEQUENCER.matcher(new String(message.json(), StandardCharsets.UTF_8));
    if (!sequencer.find()) {
      throw new AssertionError("no sequencer");
    }
    got.computeIfAbsent(message.key(), key -> new ArrayList<>()).add(sequencer.group(1));
    return losesAnswer.test(message.key())
        ? CompletableFuture.failedFuture(new IOException("the answer is lost"))
        : CompletableFuture.completedFuture(null);
  }

  /** How many messages it got, repetitions included. */
  int count() {
    return got.values().stream().mapToInt(List::size).sum();
  }

  @Override
  public void close() {}
}
