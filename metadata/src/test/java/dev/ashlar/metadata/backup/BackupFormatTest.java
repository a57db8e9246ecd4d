package dev.ashlar.metadata.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.RocksTable;
import dev.ashlar.metadata.table.TableScan;
import dev.ashlar.protocol.message.AppliedRow;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.ToIntFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** A backup is read as it was written, or not at all. */
class BackupFormatTest {
  private static final UUID CLUSTER = UUID.fromString("00000000-0000-0000-0000-000000000007");
  private static final AppliedRow APPLIED =
      AppliedRow.newBuilder().setVersion(6).setTerm(3).setIndex(4711).build();
  private static final BackupHeader HEADER =
      BackupHeader.of(
          CLUSTER, BackupHeader.Form.FOLDERS, APPLIED, Instant.parse("2026-11-27T10:00:00Z"));

  private static NavigableMap<byte[], byte[]> sorted() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  /** A backup of these rows. */
  private static byte[] backup(Map<byte[], byte[]> rows) throws IOException {
    Path folder = Files.createTempDirectory("backup");
    try (TestResources resources = new TestResources()) {
      Path still = folder.resolve("still");
      try (RocksTable table = new RocksTable(folder.resolve("live"), resources.get())) {
        TreeMap<byte[], Optional<byte[]>> changes = new TreeMap<>(Arrays::compareUnsigned);
        rows.forEach((key, value) -> changes.put(key, Optional.of(value)));
        table.write(new Changes(changes));
        table.checkpoint(still);
      }
      TableScan scan = new TableScan(still);
      try (BackupStream stream = new BackupStream(HEADER, scan, scan::close)) {
        return stream.readAllBytes();
      }
    } finally {
      DurableFiles.deleteTree(folder);
    }
  }

  private static NavigableMap<byte[], byte[]> rows(byte[] backup) throws IOException {
    NavigableMap<byte[], byte[]> rows = sorted();
    BackupReader reader = new BackupReader(new ByteArrayInputStream(backup));
    assertEquals(HEADER, reader.header());
    long count = reader.forEach(rows::put);
    assertEquals(rows.size(), count);
    return rows;
  }

  private static void assertRefused(byte[] backup, String what) {
    assertThrows(
        IOException.class,
        () -> new BackupReader(new ByteArrayInputStream(backup)).forEach((key, value) -> {}),
        what);
  }

  private static byte[] three() throws IOException {
    NavigableMap<byte[], byte[]> rows = sorted();
    rows.put(new byte[] {'B', 'a'}, new byte[] {1, 2, 3});
    rows.put(new byte[] {'B', 'b'}, new byte[0]);
    rows.put(new byte[] {'X'}, APPLIED.toByteArray());
    return backup(rows);
  }

  /** A file that was made by an earlier build stays readable. */
  @Test
  void aBackupOfTheFirstFormatIsReadable() throws IOException {
    byte[] golden;
    try (InputStream file = BackupFormatTest.class.getResourceAsStream("/golden/backup-v1.bin")) {
      golden = Objects.requireNonNull(file).readAllBytes();
    }
    BackupReader reader = new BackupReader(new ByteArrayInputStream(golden));
    UUID backup = UUID.fromString("11111111-2222-3333-4444-555555555555");
    Instant taken = Instant.parse("2026-11-27T10:00:00Z");
    BackupHeader header =
        new BackupHeader(CLUSTER, backup, BackupHeader.Form.PROCESSES, 6, 3, 4711, taken);
    assertEquals(header, reader.header());
    List<String> rows = new ArrayList<>();
    HexFormat hex = HexFormat.of();
    long count =
        reader.forEach((key, value) -> rows.add(hex.formatHex(key) + "=" + hex.formatHex(value)));
    assertEquals(3, count);
    assertEquals(List.of("4261=010203", "4262=", "58=76616c7565"), rows);
  }

  @Property(tries = 15)
  void rowsAreReadAsTheyWereWritten(
      @ForAll @Size(max = 40) List<@NotEmpty @Size(max = 30) byte[]> keys,
      @ForAll @Size(min = 1, max = 5) List<@Size(max = 300) byte[]> values)
      throws IOException {
    NavigableMap<byte[], byte[]> rows = sorted();
    for (int i = 0; i < keys.size(); i++) {
      rows.put(keys.get(i), values.get(i % values.size()));
    }
    NavigableMap<byte[], byte[]> read = rows(backup(rows));
    assertEquals(rows.size(), read.size());
    rows.forEach((key, value) -> assertArrayEquals(value, read.get(key)));
  }

  @Test
  void manyAndLargeRowsTakeSeveralBlocks() throws IOException {
    NavigableMap<byte[], byte[]> rows = sorted();
    for (int i = 0; i < 40; i++) {
      byte[] value = new byte[i == 20 ? 3 * BackupFormat.ROWS_BYTES : 20_000];
      Arrays.fill(value, (byte) i);
      rows.put(ByteBuffer.allocate(5).put((byte) 'O').putInt(i).array(), value);
    }
    NavigableMap<byte[], byte[]> read = rows(backup(rows));
    rows.forEach((key, value) -> assertArrayEquals(value, read.get(key)));
  }

  @Test
  void aBackupThatIsCutOffAnywhereIsRefused() throws IOException {
    byte[] whole = three();
    for (int length = 0; length < whole.length; length++) {
      assertRefused(Arrays.copyOf(whole, length), "cut to " + length);
    }
    assertRefused(Arrays.copyOf(whole, whole.length + 1), "a byte more");
  }

  @Test
  void eachFlippedBitIsRefused() throws IOException {
    byte[] whole = three();
    for (int bit = 0; bit < 8 * whole.length; bit++) {
      byte[] damaged = whole.clone();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      assertRefused(damaged, "bit " + bit);
    }
  }

  /** Each block is whole then; the order and the number of rows are not. */
  @Test
  void missingAndRepeatedBlocksAreRefused() throws IOException {
    NavigableMap<byte[], byte[]> rows = sorted();
    for (int i = 0; i < 4; i++) {
      rows.put(new byte[] {'O', (byte) i}, new byte[BackupFormat.ROWS_BYTES]);
    }
    byte[] whole = backup(rows);
    ToIntFunction<Integer> behind =
        from -> from + 12 + ByteBuffer.wrap(whole).getInt(from + Integer.BYTES);
    int first = behind.applyAsInt(BackupFormat.MAGIC.length);
    int second = behind.applyAsInt(first);
    int third = behind.applyAsInt(second);
    assertRefused(spliced(whole, first, second), "without the first rows");
    assertRefused(spliced(whole, third, first), "the first rows twice");
  }

  private static byte[] spliced(byte[] whole, int to, int from) {
    return ByteBuffer.allocate(to + whole.length - from)
        .put(whole, 0, to)
        .put(whole, from, whole.length - from)
        .array();
  }
}
