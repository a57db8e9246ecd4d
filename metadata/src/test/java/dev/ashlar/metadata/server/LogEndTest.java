package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A log that has lost its end looks whole to Ratis. What was acknowledged tells. */
@Execution(ExecutionMode.CONCURRENT)
class LogEndTest {
  /** More than followers may be behind in what they know to be committed. */
  private static final int TAIL_BYTES = 2400;

  @TempDir Path root = Path.of("");
  private FiveFolders folders = new FiveFolders(root);

  @BeforeEach
  void inRoot() {
    folders = new FiveFolders(root);
  }

  @AfterEach
  void closeResources() {
    folders.close();
  }

  private enum Loss {
    ZEROED,
    TRUNCATED,
    SEGMENT_GONE;

    void inflict(Path segment) throws IOException {
      byte[] bytes = Files.readAllBytes(segment);
      int end = end(bytes);
      switch (this) {
        case ZEROED -> {
          Arrays.fill(bytes, end - TAIL_BYTES, bytes.length, (byte) 0);
          // From where an entry begins: what is left of a broken one would be noticed anyhow.
          Files.write(segment, zeroedFromAnEntry(segment, bytes, end - TAIL_BYTES));
        }
        case TRUNCATED -> Files.write(segment, Arrays.copyOf(bytes, end - TAIL_BYTES));
        case SEGMENT_GONE -> Files.delete(segment);
      }
    }

    /** Entries are of less than 128 bytes here: one byte of length, and 4 of a checksum. */
    private static byte[] zeroedFromAnEntry(Path segment, byte[] bytes, int from) {
      int entry = 8;
      while (entry + 1 + bytes[entry] + 4 <= from && bytes[entry] > 0) {
        entry += 1 + bytes[entry] + 4;
      }
      assertTrue(entry > 8 && entry <= from, segment + " at " + entry);
      Arrays.fill(bytes, entry, bytes.length, (byte) 0);
      return bytes;
    }
  }

  /** A new leader begins a new segment: until that of each of the five is long enough again. */
  private void fillFive() throws Exception {
    try (MetadataServer server = folders.open()) {
      boolean isLong;
      do {
        folders.create(server, 90);
        isLong = true;
        for (int place = 1; place <= 5; place++) {
          isLong &= end(Files.readAllBytes(openSegment(place))) > 2 * TAIL_BYTES;
        }
      } while (!isLong);
    }
  }

  /** Behind the last byte that is not zero. */
  private static int end(byte[] bytes) {
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return end;
  }

  private Path openSegment(int place) throws IOException {
    try (Stream<Path> files = Files.list(folders.raft(place).resolve("current"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("log_inprogress"))
          .findFirst()
          .orElseThrow();
    }
  }

  @ParameterizedTest
  @EnumSource
  void ofSeveralItIsRebuilt(Loss loss) throws Exception {
    fillFive();
    loss.inflict(openSegment(1));
    loss.inflict(openSegment(4));
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      FiveFolders.awaitMembers(server);
      assertEquals(Collections.nCopies(5, Standing.MEMBER), FiveFolders.standings(server));
    }
    folders.wipe(2);
    folders.wipe(3);
    try (MetadataServer server = folders.open()) {
      folders.check(server); // with what the rebuilt ones have
    }
  }

  /** Three of five: what a majority had acknowledged may be on none of the others. */
  @Test
  void ofTooManyItIsRefused() throws Exception {
    fillFive();
    for (int place = 1; place <= 3; place++) {
      Loss.ZEROED.inflict(openSegment(place));
    }
    IOException refused = assertThrows(IOException.class, folders::open);
    assertTrue(refused.toString().contains("only 2 of 5"), refused.toString());
    assertTrue(refused.toString().contains("was acknowledged"), refused.toString());
  }

  /** Nothing is given up unless an operator says so, of exactly this end. */
  @ParameterizedTest
  @EnumSource(names = {"ZEROED", "TRUNCATED"})
  void theOnlyOneIsRefusedUntilItsEndIsConfirmed(Loss loss) throws Exception {
    try (MetadataServer server = folders.openOnly()) {
      folders.create(server, 90);
    }
    loss.inflict(openSegment(1));
    String refused = assertThrows(IOException.class, folders::openOnly).toString();
    assertEquals(refused, assertThrows(IOException.class, folders::openOnly).toString());
    Matcher end = Pattern.compile("ends at entry (\\d+), but entry").matcher(refused);
    assertTrue(end.find(), refused);
    Path confirmation = folders.folder(1).resolve("accept-log-end");
    assertTrue(refused.contains(confirmation.toString()), refused);
    Files.writeString(confirmation, "1");
    assertThrows(IOException.class, folders::openOnly);
    Files.writeString(confirmation, end.group(1) + "\n");
    try (MetadataServer server = folders.openOnly()) {
      int left = server.client().buckets().size();
      assertTrue(left > 0 && left < 90, left + " are left");
    }
    folders.openOnly().close();
  }
}
