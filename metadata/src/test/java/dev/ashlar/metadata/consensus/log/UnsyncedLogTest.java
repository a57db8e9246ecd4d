package dev.ashlar.metadata.consensus.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.protocol.fault.PowerCutFileSystem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Entries that a process wrote, which was killed, or stopped because their sync failed. */
class UnsyncedLogTest {
  private static final int ENTRIES = 5;
  private static final long BYTES = 512L << 20;

  @TempDir Path root = Path.of("");

  private static byte[] log() throws IOException {
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    log.write(RaftFiles.header());
    for (int index = 0; index < ENTRIES; index++) {
      byte[] entry = LogEntryProto.newBuilder().setTerm(1).setIndex(index).build().toByteArray();
      byte[] framed =
          ByteBuffer.allocate(1 + entry.length).put((byte) entry.length).put(entry).array();
      CRC32C crc = new CRC32C();
      crc.update(framed);
      log.write(framed);
      log.write(ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array());
    }
    log.write(new byte[100]); // preallocated
    return log.toByteArray();
  }

  private static Path written(Path folder) throws IOException {
    Path current = Files.createDirectories(folder.resolve("storage/current"));
    Files.writeString(current.resolve("raft-meta"), "term=1\nvotedFor=\n");
    Path segment = Files.createFile(current.resolve("log_inprogress_0"));
    DurableFiles.syncTree(folder);
    DurableFiles.syncDirectoryOf(folder);
    Files.write(segment, log());
    return segment;
  }

  private static RaftFiles.Found mended(Path folder) throws IOException {
    return RaftFiles.mend(folder, folder.resolve("storage"), () -> {});
  }

  @ParameterizedTest
  @EnumSource
  void logMarkOfAStartSurvivesAPowerCut(PowerCutFileSystem.Kind kind) throws IOException {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    Path mount = root.resolve("mount");
    try (PowerCutFileSystem drive =
        PowerCutFileSystem.create(kind, mount, root.resolve("images"), BYTES)) {
      Path folder = mount.resolve("m1");
      Path segment = written(folder);
      assertEquals(ENTRIES - 1, mended(folder).last());
      drive.cut();
      drive.remount();
      assertArrayEquals(log(), Files.readAllBytes(segment));
    }
  }

  /** Pages whose sync failed are clean: another sync of the same file does not write them. */
  @Test
  void theLogIsWrittenToAnotherFile() throws IOException {
    Path folder = Files.createDirectory(root.resolve("m1"));
    Path segment = written(folder);
    Object before = Files.getAttribute(segment, "unix:ino");
    Files.writeString(segment.resolveSibling("log.new"), "of a start that did not end");
    assertEquals(new RaftFiles.Found(RaftFiles.End.WHOLE, "", ENTRIES - 1), mended(folder));
    assertNotEquals(before, Files.getAttribute(segment, "unix:ino"));
    assertArrayEquals(log(), Files.readAllBytes(segment));
  }

  @Test
  void incompletelyReceivedCheckpointIsRemoved() throws IOException {
    Path folder = Files.createDirectory(root.resolve("m1"));
    Path segment = written(folder);
    Path part = Files.createDirectories(folder.resolve("storage/tmp/snapshot-1/sm"));
    Files.writeString(part.resolve("part"), "part");
    assertEquals(ENTRIES - 1, mended(folder).last());
    try (var left = Files.list(folder.resolve("storage/tmp"))) {
      assertEquals(0, left.count());
    }
    assertArrayEquals(log(), Files.readAllBytes(segment));
  }
}
