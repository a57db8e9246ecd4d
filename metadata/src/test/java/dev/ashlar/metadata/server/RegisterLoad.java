package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts up in one row, and reads it meanwhile at each peer and through the client. With one writer
 * and growing values, the history is linearizable if no read returns less than what was written or
 * read before it began, and none more than what was being written when it ended.
 */
final class RegisterLoad {
  private static final String KEY = "register";
  private static final int READERS_PER_PEER = 2;

  private final Set<String> failures = ConcurrentHashMap.newKeySet();
  private final List<Thread> threads = new ArrayList<>();
  private final List<OnePeer> peers = new ArrayList<>();
  private final AtomicLong begun = new AtomicLong();

  /** The greatest value that was acknowledged, or returned by a read. */
  private final AtomicLong seen = new AtomicLong();

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong reads = new AtomicLong();
  private volatile boolean isOver;

  private interface Step {
    void run() throws Exception;
  }

  private interface Reading {
    /** Empty when it is not answered. */
    Optional<Long> value() throws Exception;
  }

  RegisterLoad(RemoteMetadata client, LoopbackGroup group, int size) throws Exception {
    write(client);
    for (int place = 0; place < size; place++) {
      OnePeer peer = group.only(place);
      peers.add(peer);
      for (int i = 0; i < READERS_PER_PEER; i++) {
        loop(() -> read(() -> valueAt(peer)));
      }
    }
    loop(() -> read(() -> client.credential(KEY).map(row -> Long.parseLong(row.getSecretKey()))));
    loop(() -> write(client));
  }

  private void loop(Step step) {
    threads.add(
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    while (!isOver) {
                      step.run();
                    }
                  } catch (Exception e) {
                    failures.add(e.toString());
                  }
                }));
  }

  private void write(RemoteMetadata client) throws Exception {
    long value = begun.incrementAndGet();
    CredentialRow row =
        CredentialRow.newBuilder().setAccessKey(KEY).setSecretKey(Long.toString(value)).build();
    ResultCode code =
        client
            .submit(
                Command.newBuilder()
                    .setPutCredential(PutCredential.newBuilder().setCredential(row)))
            .getCode();
    if (code != ResultCode.OK) {
      failures.add("write of " + value + ": " + code);
    }
    seen.accumulateAndGet(value, Math::max);
    written.incrementAndGet();
  }

  private void read(Reading reading) throws Exception {
    long least = seen.get();
    Optional<Long> value = reading.value();
    long most = begun.get();
    if (value.isEmpty()) {
      Thread.sleep(2);
      return;
    }
    if (value.get() < least || value.get() > most) {
      failures.add("read of " + value.get() + ", not in " + least + " to " + most);
    }
    seen.accumulateAndGet(value.get(), Math::max);
    reads.incrementAndGet();
    Thread.sleep(1);
  }

  private static Optional<Long> valueAt(OnePeer peer) throws InterruptedException {
    return peer.ask(MetadataQuery.newBuilder().setCredential(KEY))
        .filter(MetadataAnswer::hasCredential)
        .map(answer -> Long.parseLong(answer.getCredential().getSecretKey()));
  }

  void awaitMore(int more) throws InterruptedException {
    long writtenBefore = written.get();
    long readsBefore = reads.get();
    while (failures.isEmpty()
        && (written.get() < writtenBefore + more || reads.get() < readsBefore + more)) {
      Thread.sleep(2);
    }
  }

  void end() throws InterruptedException {
    isOver = true;
    for (Thread thread : threads) {
      thread.join();
    }
    peers.forEach(OnePeer::close);
    assertEquals(Set.of(), failures);
    assertTrue(written.get() > 0 && reads.get() > 0);
  }
}
