package dev.ashlar.metadata.consensus.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint stays while it is being sent, and no longer. */
class OutgoingCheckpointsTest {
  private static final TermIndex FIRST = TermIndex.valueOf(1, 100);
  private static final TermIndex SECOND = TermIndex.valueOf(1, 200);

  @TempDir Path root = Path.of("");
  private final AtomicLong nanos = new AtomicLong();
  private final Checkpoints checkpoints = new Checkpoints(new OutgoingCheckpoints(nanos::get));

  @BeforeEach
  void take() throws Exception {
    Path log = Files.createDirectory(root.resolve("log"));
    checkpoints.init(root.resolve("sm"), log);
    take(FIRST);
  }

  private void take(TermIndex position) throws Exception {
    checkpoints.take(
        position,
        path -> {
          try {
            Files.writeString(Files.createDirectory(path).resolve("CURRENT"), "MANIFEST");
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** What Ratis asks for with each part. */
  private static void send(SnapshotInfo checkpoint) {
    checkpoint.getFiles().forEach(file -> Objects.requireNonNull(file.getFileDigest()));
  }

  private SnapshotInfo offered() {
    return Objects.requireNonNull(checkpoints.getLatestSnapshot());
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /** As Ratis and the keeper do. */
  private boolean isKept() throws IOException {
    Path first = root.resolve("sm/checkpoint-1-100");
    checkpoints.cleanupOldSnapshots(new SnapshotRetentionPolicy() {});
    checkpoints.removeBefore(new Checkpoint(SECOND, root.resolve("sm/checkpoint-1-200")));
    return Files.exists(first);
  }

  @Test
  void checkpointAndLogStayUntilTheTransferEnds() throws Exception {
    SnapshotInfo sent = offered();
    send(sent);
    take(SECOND);
    for (int part = 0; part < 10; part++) {
      pass(Duration.ofSeconds(90));
      assertTrue(isKept());
      assertEquals(FIRST.getIndex(), checkpoints.sent().firstIndex());
      send(sent);
    }
    pass(Duration.ofMinutes(2));
    assertEquals(Long.MAX_VALUE, checkpoints.sent().firstIndex());
    assertFalse(isKept());
  }

  @Test
  void checkpointThatWasOnlyOfferedIsRemoved() throws Exception {
    SnapshotInfo unused = offered();
    take(SECOND);
    assertFalse(isKept());
  }

  /** The follower would let go of what it has. */
  @Test
  void damagedFileIsNotSentAndSoonVerified() throws Exception {
    Path verified = Files.createFile(root.resolve("sm/verified"));
    SnapshotInfo damaged = offered();
    Files.writeString(root.resolve("sm/checkpoint-1-100/CURRENT"), "MANIFESS");
    assertThrows(UncheckedIOException.class, () -> send(damaged));
    assertEquals(0, Files.getLastModifiedTime(verified).toMillis());
    Files.writeString(root.resolve("sm/checkpoint-1-100/CURRENT"), "MANIFEST");
    send(damaged);
  }

  @Test
  void itDoesNotStayForEver() throws Exception {
    SnapshotInfo sent = offered();
    send(sent);
    take(SECOND);
    for (int minute = 0; minute < 5 * 60; minute++) {
      pass(Duration.ofMinutes(1));
      send(sent);
    }
    assertFalse(isKept());
  }

  @Test
  void checkpointSentAgainAfterALongTimeStays() throws Exception {
    send(offered());
    pass(Duration.ofDays(1));
    send(offered());
    take(SECOND);
    assertTrue(isKept());
  }

  @Test
  void abandonedTransferIsNotKeptForItsNextPart() {
    send(offered());
    checkpoints.sent().giveUp();
    send(offered());
    assertEquals(Long.MAX_VALUE, checkpoints.sent().firstIndex());
  }

  @Test
  void logIsPurgedAtOnceWithoutSpace() throws Exception {
    SnapshotInfo sent = offered();
    send(sent);
    take(SECOND);
    checkpoints.sent().giveUp();
    assertEquals(Long.MAX_VALUE, checkpoints.sent().firstIndex());
    assertFalse(isKept());
  }
}
