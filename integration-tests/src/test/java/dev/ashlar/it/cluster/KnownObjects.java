package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Objects of a bucket and what they have to hold. */
final class KnownObjects {
  static final String BUCKET = "bucket";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int APPENDED = 5_000;

  private final ClusterNodes nodes;
  private final long seed;
  private final Map<String, byte[]> expected = new ConcurrentHashMap<>();

  /** What is done meanwhile. */
  interface Work {
    void run() throws Exception;
  }

  KnownObjects(ClusterNodes nodes, long seed) {
    this.nodes = nodes;
    this.seed = seed;
  }

  /** Of the first gateway. */
  ChangeClient client() throws IOException {
    return nodes.client(1, BUCKET, TIMEOUT);
  }

  /** Makes the bucket with so many objects of many lengths. */
  void make(ChangeClient s3, int count) throws IOException {
    assertEquals(200, s3.put("", new byte[0]).status());
    for (int i = 0; i < count; i++) {
      put(s3, "before-" + i, 1 + i * 20_000);
    }
  }

  void put(ChangeClient s3, String key, int length) throws IOException {
    byte[] body = new Content(seed + key.hashCode() + length, length).bytes();
    require(s3.put(key, body), key);
    expected.put(key, body);
  }

  private void append(ChangeClient s3, String key) throws IOException {
    byte[] before = Objects.requireNonNull(expected.get(key));
    byte[] more = new Content(seed, APPENDED).bytes();
    require(s3.append("POST", key, before.length, more), key);
    byte[] after = Arrays.copyOf(before, before.length + more.length);
    System.arraycopy(more, 0, after, before.length, more.length);
    expected.put(key, after);
  }

  private void require(Answer answer, String key) {
    assertEquals(200, answer.status(), () -> key + ": " + answer.text() + ", seed " + seed);
  }

  /** Reads all of them. */
  void check(ChangeClient s3) throws IOException {
    assertFalse(expected.isEmpty());
    for (String key : expected.keySet()) {
      check(s3, key);
    }
  }

  private void check(ChangeClient s3, String key) throws IOException {
    assertArrayEquals(expected.get(key), s3.get(key), () -> key + ", seed " + seed);
  }

  /** While this is done somebody writes and reads, and is never refused. */
  void underLoad(Work work) throws Exception {
    AtomicBoolean isDone = new AtomicBoolean();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<String> present = List.copyOf(expected.keySet());
    Thread client =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (ChangeClient s3 = client()) {
                    for (int i = 0; !isDone.get(); i++) {
                      put(s3, "during-" + i % 50, 1 + i % 7 * 30_000);
                      check(s3, present.get(i % present.size()));
                      append(s3, "during-" + i % 50);
                    }
                  } catch (IOException | AssertionError e) {
                    failure.set(e);
                  }
                });
    try {
      work.run();
    } finally {
      isDone.set(true);
      client.join();
    }
    Throwable why = failure.get();
    if (why != null) {
      throw new AssertionError("seed " + seed + ": " + why.getMessage(), why);
    }
  }
}
