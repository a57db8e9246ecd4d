package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ashlar.it.harness.ChangeSession;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Clients that put, append, patch, copy, delete and read the objects of one bucket until the server
 * is gone or they are told to end, and the check that everything then is as it may be. There are
 * three kinds of objects: those that one client changes in every way; those of which each client
 * patches a region, which begins and ends within blocks that it shares with the next; and logs to
 * which all append.
 */
final class ChangeWorkload {
  static final int CLIENTS = 4;
  private static final int OWN = 4;
  private static final int SHARED = 2;
  private static final int LOGS = 2;
  private static final int REGION_BYTES = 50_001;
  private static final int OWN_BYTES_MAX = 600_000;

  private static final byte[] NOTHING = {};
  private static final String STORAGE_CLASS = "x-amz-storage-class";

  private final ServerProcess server;
  private final String bucket;
  private final Refusals refusals;
  private final List<Map<String, String>> kinds;
  private final Ledger<String> ledger = new Ledger<>();
  private final Map<String, Register> registers = new ConcurrentHashMap<>();
  private final List<SharedLog> logs = new ArrayList<>();
  private final AtomicLong acknowledgements = new AtomicLong();
  private volatile boolean isEnded;
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicLong> answers = new ConcurrentHashMap<>();

  /** Bytes that one client writes: an object or a region of one. */
  private static final class Register {
    final String name;
    byte @Nullable [] bytes;
    boolean isUnknown;

    Register(String name) {
      this.name = name;
    }
  }

  /** Which requests may be answered with 503 while the server is up. */
  enum Refusals {
    NONE,
    CHANGES,
    ALL,
    /** All, and with 500, too. */
    ALL_WITH_ERRORS;

    boolean allows(int status, boolean isChange) {
      return switch (this) {
        case NONE -> false;
        case CHANGES -> status == 503 && isChange;
        case ALL -> status == 503;
        case ALL_WITH_ERRORS -> status == 503 || status == 500;
      };
    }
  }

  ChangeWorkload(ServerProcess server, String bucket) {
    this(server, bucket, Refusals.NONE);
  }

  ChangeWorkload(ServerProcess server, String bucket, Refusals refusals) {
    this(server, bucket, refusals, List.of("STANDARD"));
  }

  /**
   * @param classes storage classes; each new object, copies too, has one of them
   */
  ChangeWorkload(ServerProcess server, String bucket, Refusals refusals, List<String> classes) {
    this(
        server,
        refusals,
        bucket,
        classes.stream().map(name -> Map.of(STORAGE_CLASS, name)).toList());
  }

  /** Half of the objects are encrypted, and copies change from the one to the other. */
  static ChangeWorkload withEncryption(ServerProcess server, String bucket) {
    return new ChangeWorkload(
        server,
        Refusals.NONE,
        bucket,
        List.of(Map.of(), Map.of("x-amz-server-side-encryption", "AES256")));
  }

  /**
   * @param kinds headers; each new object, copies too, is asked for with some of them
   */
  private ChangeWorkload(
      ServerProcess server, Refusals refusals, String bucket, List<Map<String, String>> kinds) {
    this.server = server;
    this.bucket = bucket;
    this.refusals = refusals;
    this.kinds = kinds;
    for (int client = 0; client < CLIENTS; client++) {
      for (int i = 0; i < OWN; i++) {
        register("own-" + client + "-" + i);
      }
    }
    for (int i = 0; i < LOGS; i++) {
      logs.add(new SharedLog("log-" + i));
    }
  }

  private Register register(String name) {
    return registers.computeIfAbsent(name, Register::new);
  }

  private static String region(int shared, int client) {
    return "shared-" + shared + "#" + client;
  }

  /** Puts what is changed only in regions, and the empty logs. */
  void putFirst() throws IOException {
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      for (int i = 0; i < SHARED; i++) {
        byte[] bytes = new byte[CLIENTS * REGION_BYTES];
        String key = "shared-" + i;
        Map<String, String> header = kind(i);
        session.require(200, client -> client.send("PUT", key, "", bytes, header));
        for (int client = 0; client < CLIENTS; client++) {
          Register region = register(region(i, client));
          region.bytes = new byte[REGION_BYTES];
          ledger.settle(region.name, fingerprint(region.bytes));
        }
      }
      for (int i = 0; i < LOGS; i++) {
        String key = logs.get(i).key();
        Map<String, String> header = kind(SHARED + i);
        session.require(200, client -> client.send("PUT", key, "", NOTHING, header));
      }
    }
  }

  /** The headers that ask for one of the kinds. */
  private Map<String, String> kind(int number) {
    return kinds.get(number % kinds.size());
  }

  long acknowledgements() {
    return acknowledgements.get();
  }

  /** How often each status was answered. */
  Map<String, AtomicLong> answers() {
    return new TreeMap<>(answers);
  }

  boolean hasFailed() {
    return !failures.isEmpty();
  }

  List<Thread> start(SplittableRandom random) {
    return start(random, Duration.ZERO);
  }

  /**
   * @param thinking of each client after a request
   */
  List<Thread> start(SplittableRandom random, Duration thinking) {
    isEnded = false;
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      SplittableRandom own = random.split();
      int client = i;
      threads.add(
          Thread.ofPlatform().name("client-" + i).start(() -> runUntilGone(client, own, thinking)));
    }
    return threads;
  }

  /** Lets clients end after the request that each has under way. */
  void end() {
    isEnded = true;
  }

  private void runUntilGone(int client, SplittableRandom random, Duration thinking) {
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      while (!isEnded) {
        tryStep(session, client, random);
        ServerProcess.pause(thinking);
      }
    } catch (IOException gone) {
      // The server was killed: what was under way stays unanswered.
    } catch (AssertionError | RuntimeException wrong) {
      failures.add(wrong);
    }
  }

  private void tryStep(ChangeSession session, int client, SplittableRandom random)
      throws IOException {
    int dice = random.nextInt(100);
    boolean isChange = dice < 80;
    try {
      if (isChange) {
        change(session, client, random, dice);
      } else {
        read(session, random, dice);
      }
    } catch (ChangeSession.Unavailable e) {
      if (!refusals.allows(e.status(), isChange)) {
        throw e;
      }
    }
  }

  private void change(ChangeSession session, int client, SplittableRandom random, int dice)
      throws IOException {
    if (dice < 50) {
      changeOwn(session, client, random);
    } else if (dice < 65) {
      int shared = random.nextInt(SHARED);
      patch(
          session,
          register(region(shared, client)),
          "shared-" + shared,
          client * REGION_BYTES,
          true,
          random);
    } else {
      Answer answer = logs.get(random.nextInt(LOGS)).append(session, random);
      count(answer);
      if (answer.status() == 200) {
        acknowledgements.incrementAndGet();
      } else if (answer.status() == 500 && !refusals.allows(500, true)) {
        fail("append: " + answer);
      }
    }
  }

  private void read(ChangeSession session, SplittableRandom random, int dice) throws IOException {
    if (dice < 92) {
      readOwn(session, "own-" + random.nextInt(CLIENTS) + "-" + random.nextInt(OWN));
    } else if (dice < 96) {
      readShared(session, random.nextInt(SHARED));
    } else {
      logs.get(random.nextInt(LOGS)).read(session);
    }
  }

  // --- Objects of one client ------------------------------------------------------------------

  private void changeOwn(ChangeSession session, int client, SplittableRandom random)
      throws IOException {
    Register register = register("own-" + client + "-" + random.nextInt(OWN));
    if (register.isUnknown) {
      return; // the restart will tell
    }
    byte[] before = register.bytes;
    int dice = random.nextInt(100);
    if (before == null || before.length > OWN_BYTES_MAX || dice < 10) {
      put(session, register, random);
    } else if (dice < 14) {
      send(
          session,
          register,
          null,
          each -> each.send("DELETE", register.name, "", NOTHING, Map.of()));
    } else if (dice < 20) {
      String source = "own-" + client + "-" + random.nextInt(OWN);
      copy(session, register, register(source), random.nextInt(kinds.size()));
    } else if (dice < 60) {
      append(session, register, before, random);
    } else {
      patch(session, register, register.name, 0, false, random);
    }
  }

  /** Anew or over what is there, often shorter than that; as a put or as an append at 0. */
  private void put(ChangeSession session, Register register, SplittableRandom random)
      throws IOException {
    byte[] after =
        new Content(random.nextLong(), random.nextInt(1 << random.nextInt(1, 19))).bytes();
    Map<String, String> header = kind(random.nextInt(kinds.size()));
    String key = register.name;
    if (register.bytes == null && after.length > 0 && random.nextBoolean()) {
      String query = "append=&position=0";
      send(session, register, after, each -> each.send("POST", key, query, after, header));
    } else {
      send(session, register, after, each -> each.send("PUT", key, "", after, header));
    }
  }

  private void copy(ChangeSession session, Register target, Register source, int kind)
      throws IOException {
    byte[] after = source.bytes;
    if (after == null || source.isUnknown || source == target) {
      return;
    }
    Map<String, String> headers = new HashMap<>(kind(kind));
    headers.put("x-amz-copy-source", bucket + "/" + source.name);
    send(session, target, after, each -> each.send("PUT", target.name, "", NOTHING, headers));
  }

  private void append(
      ChangeSession session, Register register, byte[] before, SplittableRandom random)
      throws IOException {
    byte[] body = body(random, 1 << random.nextInt(1, 18));
    byte[] after = Arrays.copyOf(before, before.length + body.length);
    System.arraycopy(body, 0, after, before.length, body.length);
    String key = register.name;
    int door = random.nextInt(3);
    send(
        session,
        register,
        after,
        each ->
            switch (door) {
              case 0 -> each.append(key, before.length, body, "Content-Type", "text/plain");
              case 1 -> each.append("POST", key, before.length, body);
              default -> each.patch(key, before.length, body);
            });
  }

  /** Overwrites some of a register; of an object, also past its end. */
  private void patch(
      ChangeSession session,
      Register register,
      String key,
      int begin,
      boolean isBounded,
      SplittableRandom random)
      throws IOException {
    byte[] before = register.bytes;
    if (before == null || before.length == 0 || register.isUnknown) {
      return;
    }
    int from = random.nextInt(before.length);
    int most = 1 << random.nextInt(1, 18);
    byte[] body = body(random, isBounded ? Math.min(most, before.length - from) : most);
    byte[] after = Arrays.copyOf(before, Math.max(before.length, from + body.length));
    System.arraycopy(body, 0, after, from, body.length);
    send(session, register, after, each -> each.patch(key, begin + from, body));
  }

  private static byte[] body(SplittableRandom random, int most) {
    return new Content(random.nextLong(), 1 + random.nextInt(most)).bytes();
  }

  private void send(
      ChangeSession session,
      Register register,
      byte @Nullable [] after,
      ChangeSession.Request request)
      throws IOException {
    Ledger<String>.Attempt attempt = ledger.begin(register.name, fingerprint(after));
    Answer answer = session.send(request);
    count(answer);
    switch (answer.status()) {
      case 200, 204 -> {
        register.bytes = after;
        attempt.acknowledged();
        acknowledgements.incrementAndGet();
      }
      case 409 -> attempt.refused(register.name);
      case 503 -> register.isUnknown = true;
      default -> {
        if (!refusals.allows(answer.status(), true)) {
          fail(register.name + ": " + answer);
        }
        register.isUnknown = true;
      }
    }
  }

  private void count(Answer answer) {
    String label = answer.status() + answer.code();
    answers.computeIfAbsent(label, each -> new AtomicLong()).incrementAndGet();
  }

  // --- Reads ----------------------------------------------------------------------------------

  private static byte[] require(byte @Nullable [] bytes, String key) {
    if (bytes == null) {
      throw new AssertionError(key + " is gone");
    }
    return bytes;
  }

  private byte @Nullable [] readOwn(ChangeSession session, String key) throws IOException {
    long began = ledger.now();
    byte[] observed = session.get(key);
    explain(key, observed, began);
    return observed;
  }

  private byte[] readShared(ChangeSession session, int shared) throws IOException {
    long began = ledger.now();
    byte[] observed = require(session.get("shared-" + shared), "shared-" + shared);
    assertEquals(CLIENTS * REGION_BYTES, observed.length);
    for (int client = 0; client < CLIENTS; client++) {
      explain(region(shared, client), regionOf(observed, client), began);
    }
    return observed;
  }

  private static byte[] regionOf(byte[] shared, int client) {
    return Arrays.copyOfRange(shared, client * REGION_BYTES, (client + 1) * REGION_BYTES);
  }

  private void explain(String name, byte @Nullable [] observed, long began) {
    String value = fingerprint(observed);
    if (ledger.explain(name, value, began).isEmpty()) {
      fail(name + " read as " + value + " at " + began + ", but " + ledger.describe(name));
    }
  }

  private static @Nullable String fingerprint(byte @Nullable [] bytes) {
    return bytes == null ? null : bytes.length + ":" + Content.sha256(bytes).substring(0, 16);
  }

  /**
   * At rest: everything is as it may be. What is seen is from now on the only thing allowed.
   *
   * @return the bytes of every object
   */
  Map<String, byte[]> checkAll(SplittableRandom random) throws IOException {
    for (Throwable failure : failures) {
      throw new AssertionError(failure);
    }
    Map<String, byte[]> objects = new HashMap<>();
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      for (Register register : registers.values()) {
        if (!register.name.contains("#")) {
          byte[] observed = readOwn(session, register.name);
          settle(register, observed);
          if (observed != null) {
            objects.put(register.name, observed);
          }
        }
      }
      for (int i = 0; i < SHARED; i++) {
        byte[] observed = readShared(session, i);
        for (int client = 0; client < CLIENTS; client++) {
          settle(register(region(i, client)), regionOf(observed, client));
        }
        objects.put("shared-" + i, observed);
      }
      for (SharedLog log : logs) {
        objects.put(log.key(), log.settle(session));
      }
      checkRanges(session, objects, random);
    }
    return objects;
  }

  private void settle(Register register, byte @Nullable [] observed) {
    ledger.settle(register.name, fingerprint(observed));
    register.bytes = observed;
    register.isUnknown = false;
  }

  private static void checkRanges(
      ChangeSession session, Map<String, byte[]> objects, SplittableRandom random)
      throws IOException {
    for (Map.Entry<String, byte[]> object : objects.entrySet()) {
      byte[] whole = object.getValue();
      if (whole.length > 0) {
        int from = random.nextInt(whole.length);
        int to = Math.min(whole.length, from + 1 + random.nextInt(40_000));
        assertArrayEquals(
            Arrays.copyOfRange(whole, from, to),
            session.get(object.getKey(), from, to),
            () -> object.getKey() + " from " + from + " to " + to);
      }
    }
  }

  /** Every object reads as it was seen at rest. */
  void compare(Map<String, byte[]> objects, String message) throws IOException {
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      for (Map.Entry<String, byte[]> object : objects.entrySet()) {
        String key = object.getKey();
        assertArrayEquals(object.getValue(), session.get(key), () -> key + ", " + message);
      }
    }
  }

  /** At rest: logs that have become long begin again. */
  void shorten() throws IOException {
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      for (SharedLog log : logs) {
        log.shorten(session);
      }
    }
  }
}
