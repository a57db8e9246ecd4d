package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Commands of several clients, each of which works once only. */
final class BucketLoad {
  /** So that a long load does not meet the limit of an owner's buckets. */
  private static final int BUCKETS_PER_OWNER = 1000;

  /** Of a client, after a command: peers are to have processors, too. */
  private static final int PAUSE_MS = 5;

  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<ResultCode> codes = ConcurrentHashMap.newKeySet();
  private final Set<Throwable> failures = ConcurrentHashMap.newKeySet();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean isOver;

  BucketLoad(MetadataClient client) {
    for (int i = 0; i < 8; i++) {
      String prefix = "b" + i + "-";
      threads.add(Thread.ofVirtual().start(() -> createOn(client, prefix)));
    }
  }

  static CommandResult createBucket(MetadataClient client, String bucket) throws Exception {
    return client.submit(TestBlobs.createBucket(bucket));
  }

  static Set<String> names(MetadataClient client) throws Exception {
    return client.buckets().stream().map(BucketRow::getName).collect(Collectors.toSet());
  }

  private void createOn(MetadataClient client, String prefix) {
    for (int i = 0; !isOver; i++) {
      try {
        String owner = prefix + i / BUCKETS_PER_OWNER;
        codes.add(client.submit(TestBlobs.createBucket(prefix + i, owner)).getCode());
        acknowledged.add(prefix + i);
        Thread.sleep(PAUSE_MS);
      } catch (Exception e) {
        failures.add(e);
        isOver = true;
      }
    }
  }

  void awaitMore(int more) throws InterruptedException {
    int before = acknowledged.size();
    while (acknowledged.size() < before + more && !isOver) {
      Thread.sleep(5);
    }
  }

  /** All names of buckets whose creation was acknowledged; nothing else was answered. */
  Set<String> end() throws InterruptedException {
    isOver = true;
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(Set.of(), failures);
    assertEquals(Set.of(ResultCode.OK), codes);
    return acknowledged;
  }
}
