package dev.ashlar.metadata.consensus.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits.Room;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints.Checkpoint;
import dev.ashlar.metadata.consensus.file.IoPacer;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.RocksTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecondCopyTest {
  private static final Room UNLIMITED = path -> Long.MAX_VALUE;

  @TempDir Path root = Path.of("");
  private final TestResources resources = new TestResources();
  private final Checkpoints checkpoints = new Checkpoints();
  private final SecondCopy copies = new SecondCopy(checkpoints);
  private Path sm = root;
  private byte rows;

  @BeforeEach
  void init() throws Exception {
    sm = root.resolve("sm");
    checkpoints.init(sm, root.resolve("current"));
  }

  @AfterEach
  void closeResources() {
    resources.close();
  }

  /** Adds a table file and takes a checkpoint. */
  private Checkpoint take(RocksTable table) throws Exception {
    NavigableMap<byte[], Optional<byte[]>> changes = new TreeMap<>(Arrays::compareUnsigned);
    changes.put(new byte[] {++rows}, Optional.of(new byte[1000]));
    table.write(new Changes(changes));
    checkpoints.take(TermIndex.valueOf(1, rows), table::checkpoint);
    return checkpoints.latest().orElseThrow();
  }

  private RocksTable open() {
    return new RocksTable(root.resolve("live"), resources.get());
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static Path table(Path directory) throws IOException {
    return directory.resolve(names(directory).stream().filter(FileSums::isTable).findFirst().get());
  }

  @Test
  void aFileThatTheCopyBeforeHasLostIsCopiedAnew() throws Exception {
    try (RocksTable table = open()) {
      Checkpoint first = take(table);
      copies.make(first, UNLIMITED, IoPacer.unlimited());
      Path lost = table(checkpoints.copyOf(first));
      Files.delete(lost);
      Checkpoint second = take(table);
      copies.make(second, UNLIMITED, IoPacer.unlimited());
      Path copy = checkpoints.copyOf(second).resolve(Objects.requireNonNull(lost.getFileName()));
      assertTrue(Files.exists(copy));
      assertEquals(List.of(), copies.verify(second, IoPacer.unlimited()));
    }
  }

  /** Its tables and its manifest have checksums of their own. */
  @Test
  void aCheckpointWhoseSumsAreDamagedIsCopiedAndGetsThemBack() throws Exception {
    try (RocksTable table = open()) {
      Checkpoint checkpoint = take(table);
      Path sums = checkpoint.path().resolve(FileSums.FILE);
      byte[] bytes = Files.readAllBytes(sums);
      bytes[bytes.length / 2] ^= 1;
      Files.write(sums, bytes);
      copies.make(checkpoint, UNLIMITED, IoPacer.unlimited());
      assertEquals(FileSums.read(checkpoints.copyOf(checkpoint)), FileSums.read(checkpoint.path()));
      assertEquals(List.of(), copies.verify(checkpoint, IoPacer.unlimited()));
    }
  }

  @Test
  void filesOfBothCheckpointsAreCopiedOnce() throws Exception {
    try (RocksTable table = open()) {
      Checkpoint first = take(table);
      copies.make(first, UNLIMITED, IoPacer.unlimited());
      Path before = table(checkpoints.copyOf(first));
      Checkpoint second = take(table);
      copies.make(second, UNLIMITED, IoPacer.unlimited());
      Path copy = checkpoints.copyOf(second).resolve(Objects.requireNonNull(before.getFileName()));
      assertTrue(Files.isSameFile(before, copy));
      assertFalse(Files.isSameFile(second.path().resolve(copy.getFileName()), copy));
    }
  }

  @Test
  void nothingIsCopiedWithoutSpaceForAll() throws Exception {
    try (RocksTable table = open()) {
      Checkpoint checkpoint = take(table);
      long bytes = 0;
      for (Path file : Checkpoints.content(checkpoint.path())) {
        bytes += Files.size(file);
      }
      long room = bytes - 1;
      List<String> before = names(sm);
      assertThrows(
          SecondCopy.NoRoomException.class,
          () -> copies.make(checkpoint, path -> room, IoPacer.unlimited()));
      assertEquals(before, names(sm));
      copies.make(checkpoint, path -> room + 1, IoPacer.unlimited());
      assertTrue(checkpoints.isCopied(checkpoint));
    }
  }

  @Test
  void aCopyThatIsGivenUpLeavesNothing() throws Exception {
    try (RocksTable table = open()) {
      Checkpoint checkpoint = take(table);
      List<String> before = names(sm);
      AtomicInteger pieces = new AtomicInteger(2);
      IoPacer putOff = new IoPacer(Long.MAX_VALUE, () -> pieces.getAndDecrement() <= 0);
      assertThrows(InterruptedException.class, () -> copies.make(checkpoint, UNLIMITED, putOff));
      assertEquals(before, names(sm));
    }
  }
}
