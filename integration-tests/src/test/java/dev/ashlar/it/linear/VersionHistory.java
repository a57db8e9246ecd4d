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
import org.jspecify.annotations.Nullable;

/** Clients that make, read and delete versions of one key at random, and what each of them saw. */
final class VersionHistory {
  private static final int BYTES_MAX = 20_000;
  private static final Duration LOOK = Duration.ofMillis(1);

  private final HistoryRecorder.Door door;
  private final String key;
  private final SplittableRandom random;
  private final Queue<Operation<VersionCall, VersionReply>> operations =
      new ConcurrentLinkedQueue<>();
  private final Queue<String> ids = new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();

  VersionHistory(HistoryRecorder.Door door, String key, SplittableRandom random) {
    this.door = door;
    this.key = key;
    this.random = random;
  }

  /**
   * @param calls of each client, those for which it finds no open door included
   */
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

  /** What is there in the end counts, too. */
  void readAll() throws IOException {
    try (ChangeClient client = door.open()) {
      record(client, new VersionCall.Get());
      record(client, new VersionCall.ListVersions());
      for (String id : List.copyOf(ids)) {
        record(client, new VersionCall.GetVersion(id));
      }
    }
  }

  /** Fails unless some order of the calls explains what was answered. */
  void check() {
    List<Operation<VersionCall, VersionReply>> history =
        operations.stream().sorted(Comparator.comparingLong(Operation::calledAt)).toList();
    if (!Linearizability.isLinearizable(new VersionedKeyModel(), history)) {
      StringBuilder all = new StringBuilder("no order explains " + key);
      history.forEach(each -> all.append('\n').append(each));
      throw new AssertionError(all.toString());
    }
  }

  private void run(int calls, SplittableRandom own) {
    for (int done = 0; done < calls; ) {
      try (ChangeClient client = door.open()) {
        boolean isOpen = true;
        for (; isOpen && done < calls; done++) {
          isOpen = record(client, call(own));
        }
      } catch (IOException e) {
        done++; // nobody was there to be asked
      }
    }
  }

  /** Returns whether it was answered; otherwise nobody knows what became of it. */
  private boolean record(ChangeClient client, VersionCall call) {
    long calledAt = System.nanoTime();
    VersionReply reply = null;
    try {
      Answer answer = call.send(client, key);
      reply = answer.status() == 503 ? null : VersionReply.of(call, answer);
    } catch (IOException e) {
      // Its connection is lost.
    }
    operations.add(new Operation<>(call, reply, calledAt, System.nanoTime()));
    note(reply);
    return reply != null;
  }

  private void note(@Nullable VersionReply reply) {
    if (reply != null && !reply.id().isEmpty() && !ids.contains(reply.id())) {
      ids.add(reply.id());
    }
  }

  private VersionCall call(SplittableRandom own) {
    List<String> known = List.copyOf(ids);
    int dice = own.nextInt(20);
    if (dice < 6) {
      byte[] bytes = new byte[8 + own.nextInt(BYTES_MAX)];
      own.nextBytes(bytes);
      return VersionCall.Put.of(bytes);
    } else if (dice < 12) {
      return new VersionCall.Get();
    } else if (dice < 14) {
      return new VersionCall.Delete();
    } else if (dice < 15) {
      return new VersionCall.ListVersions();
    } else if (known.isEmpty()) {
      return new VersionCall.Get();
    }
    String id = known.get(own.nextInt(known.size()));
    return dice < 18 ? new VersionCall.DeleteVersion(id) : new VersionCall.GetVersion(id);
  }
}
