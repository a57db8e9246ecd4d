package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ashlar.it.harness.ChangeSession;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * What an object may hold that several clients append records to: whole records and nothing else,
 * each where it was asked for, those that were acknowledged all there, those that were refused not.
 *
 * @param key of the object
 */
record SharedLog(String key, NavigableMap<Integer, Content> acknowledged, Map<Long, Integer> open) {
  private static final int HEAD_BYTES = Long.BYTES + Integer.BYTES;
  private static final int LONG_BYTES = 1_500_000;

  SharedLog(String key) {
    this(key, new ConcurrentSkipListMap<>(), new ConcurrentHashMap<>());
  }

  /** How a record looks that follows from this content: its seed, its length, its bytes. */
  private static byte[] bytes(Content content) {
    return ByteBuffer.allocate(HEAD_BYTES + content.length())
        .putLong(content.seed())
        .putInt(content.length())
        .put(content.bytes())
        .array();
  }

  /**
   * Appends a record where the log ends now, through one of the doors, unless others are faster.
   */
  Answer append(ChangeSession session, SplittableRandom random) throws IOException {
    Map<String, String> head = session.require(200, each -> each.head(key)).headers();
    int offset = Integer.parseInt(head.get("content-length"));
    String etag = Objects.requireNonNull(head.get("etag"));
    Content content = new Content(random.nextLong(), random.nextInt(1 << random.nextInt(1, 16)));
    byte[] body = bytes(content);
    int door = random.nextInt(3);
    open.put(content.seed(), offset);
    Answer answer =
        session.send(
            each ->
                switch (door) {
                  case 0 -> each.append(key, offset, body, "Content-Type", "text/plain");
                  case 1 -> each.append("POST", key, offset, body);
                  default -> each.patch(key, offset, body, "If-Match", etag);
                });
    switch (answer.status()) {
      case 200 -> {
        acknowledged.put(offset, content);
        open.remove(content.seed());
      }
      case 400, 409, 412 -> open.remove(content.seed());
      case 500, 503 -> {} // it stays open: a restart will tell
      default -> fail(key + ": " + answer);
    }
    return answer;
  }

  /** Where the log ends at least. */
  private int size() {
    var last = acknowledged.lastEntry();
    return last == null ? 0 : last.getKey() + HEAD_BYTES + last.getValue().length();
  }

  /** Reads the log while others append, and fails unless it may look so. */
  void read(ChangeSession session) throws IOException {
    int sizeMin = size();
    byte[] log = get(session);
    assertTrue(log.length >= sizeMin, () -> key + " has " + log.length + " of " + sizeMin);
    records(log);
  }

  private byte[] get(ChangeSession session) throws IOException {
    byte[] log = session.get(key);
    if (log == null) {
      throw new AssertionError(key + " is gone");
    }
    return log;
  }

  private NavigableMap<Integer, Content> records(byte[] log) {
    NavigableMap<Integer, Content> records = new TreeMap<>();
    for (ByteBuffer rest = ByteBuffer.wrap(log); rest.hasRemaining(); ) {
      int offset = rest.position();
      assertTrue(rest.remaining() >= HEAD_BYTES, () -> key + " ends within a record");
      Content content = new Content(rest.getLong(), rest.getInt());
      // Before its bytes are looked at: of a mix of two records these would be anything.
      Integer wanted = open.get(content.seed());
      if (wanted == null) {
        assertEquals(acknowledged.get(offset), content, () -> key + " at " + offset);
      } else {
        assertEquals(wanted, offset, () -> key + ": a record elsewhere");
      }
      byte[] bytes = new byte[content.length()];
      rest.get(bytes);
      assertArrayEquals(content.bytes(), bytes, () -> key + " at " + offset);
      records.put(offset, content);
    }
    return records;
  }

  /**
   * At rest: what is there is all that there is.
   *
   * @return the bytes of the log
   */
  byte[] settle(ChangeSession session) throws IOException {
    byte[] log = get(session);
    NavigableMap<Integer, Content> records = records(log);
    acknowledged.forEach(
        (offset, content) -> assertEquals(content, records.get(offset), key + " at " + offset));
    acknowledged.clear();
    acknowledged.putAll(records);
    open.clear();
    return log;
  }

  /** At rest: begins again if it has become long. */
  void shorten(ChangeSession session) throws IOException {
    if (size() > LONG_BYTES) {
      session.require(200, each -> each.put(key, new byte[0]));
      acknowledged.clear();
    }
  }
}
