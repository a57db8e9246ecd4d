package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeSession;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Over HTTP, some of what {@code BoundaryTest} of the engine does entirely: objects changed from
 * and to boundaries of strips and stripes, one byte before them or behind, some put over with
 * another length and grown again; read whole and in ranges, with all drives and without two.
 */
class BoundaryIT {
  private static final int UNIT = 4096;
  private static final int DATA_SHARDS = 3;
  private static final int STRIPES = 2;
  private static final int ONE_OF = 29;
  private static final int DRIVES = 5;

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("BoundaryIT"));
  private final List<Integer> places = places();
  private final Map<String, byte[]> objects = new TreeMap<>();

  private static List<Integer> places() {
    TreeSet<Integer> places = new TreeSet<>();
    for (int at = 0; at <= STRIPES * DATA_SHARDS * UNIT; at += UNIT) {
      places.addAll(List.of(Math.max(0, at - 1), at, at + 1));
    }
    return List.copyOf(places);
  }

  @LongTest
  void changesBetweenBoundaries() throws IOException {
    ServerSpec spec = new ServerSpec("boundary", DRIVES, 1, DATA_SHARDS + "+2", UNIT);
    try (ServerProcess server = ServerProcess.start(spec)) {
      String bucket = bucket(server);
      try (ChangeSession session = new ChangeSession(server, bucket)) {
        changeAll(session);
        readAll(session, "all there");
      }
      List<Path> gone = List.of();
      for (int first = 0; first < DRIVES; first += 2) {
        List<Path> drives = server.driveFolders();
        server.stop();
        gone.forEach(DriveFolders::repair);
        gone = List.of(drives.get(first), drives.get((first + 1) % DRIVES));
        gone.forEach(DriveFolders::replaceByFile);
        server.start();
        try (ChangeSession session = new ChangeSession(server, bucket)) {
          readAll(session, "without " + gone);
        }
      }
    }
  }

  private static String bucket(ServerProcess server) {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, "boundary");
    }
  }

  private void changeAll(ChangeSession session) throws IOException {
    int triple = random.nextInt(ONE_OF);
    for (int size : places) {
      for (int from : places) {
        for (int to : places) {
          if (from <= size && from < to && triple++ % ONE_OF == 0) {
            change(session, size, from, to, triple);
          }
        }
      }
    }
    System.out.println("BoundaryIT: " + objects.size() + " objects");
  }

  private void change(ChangeSession session, int size, int from, int to, int salt)
      throws IOException {
    String key = size + "/" + from + "-" + to;
    put(session, key, size);
    write(session, key, from, to, salt);
    if (salt % 4 == 0) {
      int other = places.get(random.nextInt(places.size()));
      put(session, key, other);
      write(session, key, other, places.getLast() + 1, salt / 4);
    }
  }

  private void put(ChangeSession session, String key, int size) throws IOException {
    byte[] bytes = content(size);
    session.require(200, client -> client.put(key, bytes));
    objects.put(key, bytes);
  }

  /** Through one of the doors that are open for it. */
  private void write(ChangeSession session, String key, int from, int to, int door)
      throws IOException {
    byte[] before = Objects.requireNonNull(objects.get(key));
    byte[] body = content(to - from);
    boolean isAppend = from == before.length;
    Answer answer =
        session.send(
            client ->
                switch (isAppend ? door % 3 : 0) {
                  case 0 -> client.patch(key, from, body);
                  case 1 -> client.append("POST", key, from, body);
                  default -> client.append(key, from, body, "Content-Type", "text/plain");
                });
    assertEquals(200, answer.status(), () -> key + ": " + answer);
    byte[] after = Arrays.copyOf(before, Math.max(before.length, to));
    System.arraycopy(body, 0, after, from, body.length);
    objects.put(key, after);
  }

  private byte[] content(int length) {
    return new Content(random.nextLong(), length).bytes();
  }

  private void readAll(ChangeSession session, String message) throws IOException {
    for (Map.Entry<String, byte[]> object : objects.entrySet()) {
      String key = object.getKey();
      byte[] expected = object.getValue();
      assertArrayEquals(expected, session.get(key), () -> key + ", " + message);
      int from = places.get(random.nextInt(places.size()));
      int to = Math.min(expected.length, from + 1 + random.nextInt(2 * UNIT));
      if (from < to) {
        assertArrayEquals(
            Arrays.copyOfRange(expected, from, to),
            session.get(key, from, to),
            () -> key + " from " + from + " to " + to + ", " + message);
      }
    }
  }
}
