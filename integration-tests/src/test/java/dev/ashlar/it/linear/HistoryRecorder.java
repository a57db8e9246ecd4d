package dev.ashlar.it.linear;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Clients that change and read one key at random, and what each of them saw. */
final class HistoryRecorder {
  private static final int UNIT = 4096;
  private static final int STRIPE = 2 * UNIT;
  private static final Duration LOOK = Duration.ofMillis(1);

  private final ServerProcess server;
  private final String bucket;
  private final String key;
  private final SplittableRandom random;
  private final Queue<Operation<ObjectCall, ObjectReply>> operations =
      new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();

  /** As somebody saw it last: clients that believe in the same size race for it. */
  private final AtomicInteger size = new AtomicInteger();

  HistoryRecorder(ServerProcess server, String bucket, String key, SplittableRandom random) {
    this.server = server;
    this.bucket = bucket;
    this.key = key;
    this.random = random;
  }

  void start(int count, int calls) {
    for (int i = 0; i < count; i++) {
      SplittableRandom own = random.split();
      clients.add(Thread.ofPlatform().name("client-" + i).start(() -> run(calls, own)));
    }
  }

  void join() throws InterruptedException {
    for (Thread client : clients) {
      client.join();
    }
    clients.clear();
  }

  /** Waits until so many calls have been answered, or all clients are through. */
  void awaitAnswers(int count) {
    while (operations.size() < count && clients.stream().anyMatch(Thread::isAlive)) {
      ServerProcess.pause(LOOK);
    }
  }

  /** So that what is left in the end counts. */
  void readLast() throws IOException {
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      record(client, new ObjectCall.Get());
    }
  }

  List<Operation<ObjectCall, ObjectReply>> history() {
    return operations.stream().sorted(Comparator.comparingLong(Operation::calledAt)).toList();
  }

  String describe() {
    StringBuilder all = new StringBuilder(" " + key);
    history().forEach(each -> all.append('\n').append(each));
    return all.toString();
  }

  /** A client whose connection broke does not know what became of its call, and ends. */
  private void run(int calls, SplittableRandom own) {
    try (ChangeClient client = new ChangeClient(server, bucket)) {
      boolean isConnected = true;
      for (int i = 0; i < calls && isConnected; i++) {
        isConnected = record(client, call(own));
      }
    } catch (IOException e) {
      // The server is away: nothing was asked.
    }
  }

  private boolean record(ChangeClient client, ObjectCall call) {
    long calledAt = System.nanoTime();
    ObjectReply reply = null;
    boolean isConnected = true;
    try {
      Answer answer = call.send(client, key);
      // After a 503 nobody knows what became of it either.
      reply = answer.status() == 503 ? null : ObjectReply.of(answer);
    } catch (IOException e) {
      isConnected = false;
    }
    operations.add(new Operation<>(call, reply, calledAt, System.nanoTime()));
    note(call, reply);
    return isConnected;
  }

  private void note(ObjectCall call, @Nullable ObjectReply reply) {
    if (reply == null || !reply.what().equals(ObjectReply.OK)) {
      return;
    }
    switch (call) {
      case ObjectCall.Put put -> size.set(put.bytes().length);
      case ObjectCall.Append append -> size.set(append.offset() + append.bytes().length);
      case ObjectCall.Get get -> size.set(reply.body().remaining());
      case ObjectCall.Patch patch ->
          size.accumulateAndGet(patch.offset() + patch.bytes().length, Math::max);
      case ObjectCall.Delete delete -> size.set(0);
    }
  }

  private ObjectCall call(SplittableRandom own) {
    int dice = own.nextInt(20);
    if (dice == 0) {
      return new ObjectCall.Delete();
    } else if (dice < 3) {
      return new ObjectCall.Put(bytes(own));
    } else if (dice < 8) {
      return new ObjectCall.Append(size.get(), bytes(own));
    } else if (dice < 14) {
      return new ObjectCall.Patch(offset(own), bytes(own));
    }
    return new ObjectCall.Get();
  }

  private int offset(SplittableRandom own) {
    int any = own.nextInt(size.get() + 1);
    int edge = any / UNIT * UNIT + own.nextInt(3) - 1;
    return own.nextBoolean() ? any : Math.max(0, edge);
  }

  private static byte[] bytes(SplittableRandom own) {
    int length =
        switch (own.nextInt(3)) {
          case 0 -> 1 + own.nextInt(200);
          case 1 -> UNIT * (1 + own.nextInt(3)) + own.nextInt(3) - 1;
          default -> 1 + own.nextInt(2 * STRIPE);
        };
    byte[] bytes = new byte[length];
    own.nextBytes(bytes);
    return bytes;
  }
}
