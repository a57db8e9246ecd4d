package dev.ashlar.metadata.consensus.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.file.SlotFile;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a peer has promised outlives damage of one of the two files that have it, at any bit. */
class VoteTest {
  private static final Vote TOLD = new Vote(15, "m2");
  private static final String KEPT = "#\n#Mon Nov 23 12:00:00 UTC 2026\nterm=15\nvotedFor=m2\n";

  @TempDir Path folder = Path.of("");
  private Path current = folder;

  @BeforeEach
  void tell() throws IOException {
    current = Files.createDirectories(folder.resolve("current"));
    SlotFile file = Vote.file(folder);
    file.write(new Vote(14, "m1").toBytes());
    file.write(new Vote(15, "").toBytes());
    file.write(TOLD.toBytes());
  }

  private Vote restored(byte[] kept) throws IOException {
    Files.write(current.resolve("raft-meta"), kept);
    Vote.restore(folder, current);
    Properties properties = new Properties();
    properties.load(new StringReader(Files.readString(current.resolve("raft-meta"))));
    return new Vote(
        Long.parseLong(properties.getProperty("term", "")),
        properties.getProperty("votedFor", "?"));
  }

  private static void assertKept(Vote restored, String message) {
    assertTrue(
        restored.term() > TOLD.term()
            || (restored.term() == TOLD.term() && restored.votedFor().equals(TOLD.votedFor())),
        message + ": " + restored);
  }

  @Test
  void anyBitOfRatisFileMayChange() throws IOException {
    byte[] kept = KEPT.getBytes(StandardCharsets.UTF_8);
    for (int bit = 0; bit < kept.length * 8; bit++) {
      byte[] changed = kept.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertKept(restored(changed), "bit " + bit);
    }
    for (int length = 0; length < kept.length; length++) {
      assertKept(restored(Arrays.copyOf(kept, length)), "cut to " + length);
    }
  }

  /** The directory was not synced before the power went: an earlier file is there again. */
  @Test
  void anEarlierFileThatCameBackIsNotBelieved() throws IOException {
    assertEquals(TOLD, restored("term=14\nvotedFor=m1\n".getBytes(StandardCharsets.UTF_8)));
    assertEquals(TOLD, restored("term=15\nvotedFor=\n".getBytes(StandardCharsets.UTF_8)));
  }

  /** Ratis wrote its file, and the peer had no time to tell anybody. */
  @Test
  void aLaterFileCounts() throws IOException {
    Vote later = new Vote(16, "m1");
    assertEquals(later, restored("term=16\nvotedFor=m1\n".getBytes(StandardCharsets.UTF_8)));
  }

  /** The slot before, or Ratis' file: never anything that was not written. */
  @Test
  void anyBitOfTheOwnFileMayChange() throws IOException {
    Path own = folder.resolve(Vote.FILE);
    byte[] written = Files.readAllBytes(own);
    for (int bit = 0; bit < written.length * 8; bit++) {
      byte[] changed = written.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      Files.write(own, changed);
      byte[] content = Vote.file(folder).read().orElseThrow();
      assertTrue(
          Arrays.equals(content, TOLD.toBytes())
              || Arrays.equals(content, new Vote(15, "").toBytes()),
          "bit " + bit);
    }
    assertKept(restored(KEPT.getBytes(StandardCharsets.UTF_8)), "of Ratis");
  }

  @Test
  void aTornWriteLeavesTheOneBefore() throws IOException {
    Path own = folder.resolve(Vote.FILE);
    byte[] before = Files.readAllBytes(own);
    SlotFile file = Vote.file(folder);
    assertArrayEquals(TOLD.toBytes(), file.read().orElseThrow());
    file.write(new Vote(16, "m3").toBytes());
    byte[] after = Files.readAllBytes(own);
    for (int torn = 0; torn < 512; torn++) {
      byte[] bytes = before.clone();
      System.arraycopy(after, 0, bytes, 0, torn); // it went into the first slot
      Files.write(own, bytes);
      Vote read = Vote.of(Vote.file(folder).read().orElseThrow());
      assertTrue(read.equals(TOLD) || read.equals(new Vote(16, "m3")), torn + ": " + read);
    }
  }

  @Test
  void whenBothAreDamagedNobodyKnows() throws IOException {
    Files.write(folder.resolve(Vote.FILE), new byte[1024]);
    Files.write(current.resolve("raft-meta"), new byte[60]);
    assertThrows(IOException.class, () -> Vote.restore(folder, current));
  }
}
