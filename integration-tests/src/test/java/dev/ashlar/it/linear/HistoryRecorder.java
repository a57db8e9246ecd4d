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
public final class HistoryRecorder {
  private static final int UNIT = 4096;
  private static final int STRIPE = 2 * UNIT;

  /** Of the errors with which a request may be tried again, one that never has an effect. */
  private static final String NOT_DONE = "Too few drives answer";

  private static final Duration LOOK = Duration.ofMillis(1);

  private final Door door;
  private final Pace pace;
  private final String key;
  private final SplittableRandom random;
  private final Queue<Operation<ObjectCall, ObjectReply>> operations =
      new ConcurrentLinkedQueue<>();
  private final List<Thread> clients = new ArrayList<>();

  /** As somebody saw it last: clients that believe in the same size race for it. */
  private final AtomicInteger size = new AtomicInteger();

  /** A client's way to the store; the next one may be another. */
  @FunctionalInterface
  public interface Door {
    ChangeClient open() throws IOException;
  }

  /**
   * How patient clients are.
   *
   * @param thinkingMsMax between two calls
   * @param retryMs after a call without an answer
   */
  public record Pace(int thinkingMsMax, int retryMs) {
    public static final Pace AT_ONCE = new Pace(0, 0);
  }

  public HistoryRecorder(Door door, Pace pace, String key, SplittableRandom random) {
    this.door = door;
    this.pace = pace;
    this.key = key;
    this.random = random;
  }

  public String key() {
    return key;
  }

  /**
   * @param calls of each client, those for which it finds no open door included
   */
  public void start(int count, int calls) {
    for (int i = 0; i < count; i++) {
      SplittableRandom own = random.split();
      clients.add(Thread.ofPlatform().name("client-" + i).start(() -> run(calls, own)));
    }
  }

  public void join() throws InterruptedException {
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

  /**
   * Reads it, trying again until there is an answer, so that what is there counts.
   *
   * @param patience no try that has failed may have ended later; zero allows none to fail
   * @return whether it is there
   */
  public boolean read(Duration patience) {
    long beganNanos = System.nanoTime();
    int tries = 0;
    do {
      tries++;
      try (ChangeClient client = door.open()) {
        ObjectReply reply = record(client, new ObjectCall.Get());
        if (reply != null) {
          return reply.what().equals(ObjectReply.OK);
        }
      } catch (IOException e) {
        // Nobody was there to be asked.
      }
      ServerProcess.pause(Duration.ofMillis(pace.retryMs()));
    } while (System.nanoTime() - beganNanos < patience.toNanos());
    throw new AssertionError(
        "cannot be read within " + patience + ", in " + tries + " tries:" + describe());
  }

  /** Fails unless some order of the calls explains what was answered. */
  public void check() {
    if (!Linearizability.isLinearizable(new ObjectModel(), history())) {
      throw new AssertionError("no order explains" + describe());
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

  /** A client whose connection broke does not know what became of its call, and opens another. */
  private void run(int calls, SplittableRandom own) {
    ChangeClient client = null;
    for (int i = 0; i < calls; i++) {
      try {
        client = client == null ? door.open() : client;
        if (record(client, call(own)) == null) {
          client.close();
          client = null;
        }
      } catch (IOException e) {
        // Nobody was there to be asked.
      }
      int wait = client == null ? pace.retryMs() : own.nextInt(pace.thinkingMsMax() + 1);
      ServerProcess.pause(Duration.ofMillis(wait));
    }
    closeQuietly(client);
  }

  private static void closeQuietly(@Nullable ChangeClient client) {
    try {
      if (client != null) {
        client.close();
      }
    } catch (IOException e) {
      // It is not needed any more.
    }
  }

  /** Returns null when there was no answer, or one that only says to try again. */
  private @Nullable ObjectReply record(ChangeClient client, ObjectCall call) {
    long calledAt = System.nanoTime();
    ObjectReply reply = null;
    try {
      Answer answer = call.send(client, key);
      if (answer.status() == 503 && answer.text().contains(NOT_DONE)) {
        return null;
      }
      // After another 503 nobody knows what became of it.
      reply = answer.status() == 503 ? null : ObjectReply.of(answer);
    } catch (IOException e) {
      // Its connection is lost, or took too long.
    }
    operations.add(new Operation<>(call, reply, calledAt, System.nanoTime()));
    note(call, reply);
    return reply;
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
