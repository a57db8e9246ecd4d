package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
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
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int APPENDED = 5_000;

  /** Of a client, after some requests: others than this load are to have processors, too. */
  private static final Duration PAUSE = Duration.ofMillis(50);

  /** Keys of objects that one client changes, and no other reads. */
  private static final String DURING = "during-";

  private final ClusterNodes nodes;
  private final String bucket;
  private final long seed;
  private final Map<String, byte[]> expected = new ConcurrentHashMap<>();

  /** What is done meanwhile. */
  interface Work {
    void run() throws Exception;
  }

  KnownObjects(ClusterNodes nodes, long seed) {
    this(nodes, "bucket", seed);
  }

  KnownObjects(ClusterNodes nodes, String bucket, long seed) {
    this.nodes = nodes;
    this.bucket = bucket;
    this.seed = seed;
  }

  /** Of the first gateway. */
  ChangeClient client() throws IOException {
    return client(1);
  }

  private ChangeClient client(int gateway) throws IOException {
    return nodes.client(gateway, bucket, TIMEOUT);
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

  /** While this is done a client of the first gateway writes and reads, and is never refused. */
  void underLoad(Work work) throws Exception {
    underLoad(List.of(1), work);
  }

  /**
   * While this is done somebody writes and reads without ever trying again, and is never refused.
   *
   * @param gateways of each client the number of its gateway
   */
  void underLoad(List<Integer> gateways, Work work) throws Exception {
    AtomicBoolean isDone = new AtomicBoolean();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<String> present =
        expected.keySet().stream().filter(key -> !key.startsWith(DURING)).toList();
    List<Thread> clients = new ArrayList<>();
    for (int gateway : gateways) {
      String prefix = DURING + clients.size() + "-";
      clients.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try (ChangeClient s3 = client(gateway)) {
                      for (int i = 0; !isDone.get(); i++) {
                        workOnce(s3, prefix + i % 50, present.get(i % present.size()), i);
                        ServerProcess.pause(PAUSE);
                      }
                    } catch (IOException | AssertionError e) {
                      failure.compareAndSet(null, e);
                    }
                  }));
    }
    try {
      work.run();
    } finally {
      isDone.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    Throwable why = failure.get();
    if (why != null) {
      AssertionError refused = nodes.failed("seed " + seed + ": " + why.getMessage());
      refused.initCause(why);
      throw refused;
    }
  }

  private void workOnce(ChangeClient s3, String own, String other, int turn) throws IOException {
    put(s3, own, 1 + turn % 7 * 30_000);
    check(s3, other);
    append(s3, own);
    if (turn % 3 == 0) {
      delete(s3, own);
    }
  }

  private void delete(ChangeClient s3, String key) throws IOException {
    Answer deleted = s3.send("DELETE", key, "", new byte[0], Map.of());
    assertEquals(204, deleted.status(), () -> key + ": " + deleted.text() + ", seed " + seed);
    expected.remove(key);
    Answer gone = s3.send("GET", key, "", new byte[0], Map.of());
    assertEquals(404, gone.status(), () -> key + ": " + gone.status() + ", seed " + seed);
  }
}
