package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.object.Uploads;
import dev.ashlar.protocol.client.ListQuery;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.PutPart;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random commands on metadata and on maps of byte strings, with restarts in between. Every byte of
 * a blob is known by its position, so an object is what its slices spell. See {@link SeededRuns}.
 */
class ModelTest {
  private static final int KEYS = 6;
  private static final int COMMANDS = 400;

  /** A piece of data: where in which blob. */
  private record Piece(BlobId blob, long offset, long length) {}

  private final Map<String, List<Piece>> objects = new TreeMap<>();
  private final Map<String, TreeMap<Integer, List<Piece>>> uploads = new TreeMap<>();
  private final Set<BlobId> forgotten = new HashSet<>();
  private final Set<BlobId> written = new HashSet<>();
  private MemoryMetadata metadata = new MemoryMetadata(Clock.systemUTC());
  private Random random = new Random();
  private long sequence;

  @Test
  void randomCommandsDoWhatTheyDoToMaps() {
    SeededRuns.repeat(25, this::run);
  }

  private void run(long seed) throws Exception {
    random = new Random(seed);
    objects.clear();
    uploads.clear();
    forgotten.clear();
    written.clear();
    metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 4, 4);
    metadata.submit(TestBlobs.createBucket("b"));
    for (int i = 0; i < COMMANDS; i++) {
      context();
      if (i % 20 == 0) {
        check();
      }
    }
    check();
  }

  private void context() throws Exception {
    String key = key();
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> put(key);
      case 3 -> delete(key);
      case 4 -> copy(key(), key);
      case 5 -> startUpload(key);
      case 6 -> putPart(key);
      case 7 -> copyPart(key(), key);
      case 8 -> finishUpload(key);
      default -> {
        if (random.nextBoolean()) {
          forget();
        } else {
          MemoryTable rows = metadata.table();
          metadata = new MemoryMetadata(rows, Clock.systemUTC()); // and a new session
        }
      }
    }
  }

  private String key() {
    return "k" + random.nextInt(KEYS);
  }

  private Command.Builder command() {
    return Command.newBuilder();
  }

  private void expect(ResultCode code, Command.Builder command) throws Exception {
    assertEquals(code, metadata.submit(command).getCode());
  }

  private List<NewBlob> newBlobs(long minBytes) {
    List<NewBlob> blobs = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      BlobId id = new BlobId(metadata.session(), sequence++);
      written.add(id);
      blobs.add(
          TestBlobs.acknowledged(metadata, id, minBytes + 1 + random.nextInt(100_000)).build());
    }
    return blobs;
  }

  private static List<Piece> pieces(List<NewBlob> blobs) {
    return blobs.stream()
        .map(blob -> new Piece(BlobId.of(blob.getId()), 0, blob.getLength()))
        .toList();
  }

  private static long length(List<Piece> pieces) {
    return pieces.stream().mapToLong(Piece::length).sum();
  }

  private void put(String key) throws Exception {
    List<NewBlob> blobs = newBlobs(0);
    long size = length(pieces(blobs));
    expect(
        ResultCode.OK,
        command()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setSummary(ObjectSummary.newBuilder().setSize(size))
                    .addAllBlobs(blobs)));
    objects.put(key, pieces(blobs));
  }

  private void delete(String key) throws Exception {
    expect(ResultCode.OK, TestBlobs.delete("b", key));
    objects.remove(key);
  }

  private void copy(String from, String to) throws Exception {
    List<Piece> source = objects.get(from);
    expect(
        source == null ? ResultCode.NO_SUCH_KEY : ResultCode.OK,
        command()
            .setCopyObject(
                CopyObject.newBuilder()
                    .setSourceBucket("b")
                    .setSourceKey(from)
                    .setBucket("b")
                    .setKey(to)));
    if (source != null) {
      objects.put(to, source);
    }
  }

  private void startUpload(String key) throws Exception {
    UploadRow upload = UploadRow.newBuilder().setBucket("b").setKey(key).setUploadId("u").build();
    boolean isNew = uploads.putIfAbsent(key, new TreeMap<>()) == null;
    expect(
        isNew ? ResultCode.OK : ResultCode.INVALID_COMMAND,
        command().setCreateUpload(CreateUpload.newBuilder().setUpload(upload)));
  }

  private void putPart(String key) throws Exception {
    TreeMap<Integer, List<Piece>> parts = uploads.get(key);
    List<NewBlob> blobs = newBlobs(Uploads.PART_MIN_BYTES);
    int number = 1 + random.nextInt(4);
    PartRow part = PartRow.newBuilder().setNumber(number).setSize(length(pieces(blobs))).build();
    expect(
        parts == null ? ResultCode.NO_SUCH_UPLOAD : ResultCode.OK,
        command()
            .setPutPart(
                PutPart.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setUploadId("u")
                    .setPart(part)
                    .addAllBlobs(blobs)));
    if (parts != null) {
      parts.put(number, pieces(blobs));
    }
  }

  private void copyPart(String from, String key) throws Exception {
    TreeMap<Integer, List<Piece>> parts = uploads.get(key);
    List<Piece> source = objects.get(from);
    if (parts == null || source == null) {
      return;
    }
    long offset = random.nextLong(length(source) + 1);
    long count = random.nextLong(length(source) - offset + 1);
    int number = 1 + random.nextInt(4);
    expect(
        ResultCode.OK,
        command()
            .setCopyPart(
                CopyPart.newBuilder()
                    .setBucket("b")
                    .setKey(key)
                    .setUploadId("u")
                    .setPart(PartRow.newBuilder().setNumber(number))
                    .setSourceBucket("b")
                    .setSourceKey(from)
                    .setSourceOffset(offset)
                    .setSourceLength(count)));
    parts.put(number, range(source, offset, count));
  }

  private static List<Piece> range(List<Piece> source, long offset, long count) {
    List<Piece> range = new ArrayList<>();
    long skip = offset;
    long left = count;
    for (Piece piece : source) {
      long skipped = Math.min(skip, piece.length());
      long taken = Math.min(left, piece.length() - skipped);
      if (taken > 0) {
        range.add(new Piece(piece.blob(), piece.offset() + skipped, taken));
      }
      skip -= skipped;
      left -= taken;
    }
    return range;
  }

  private void finishUpload(String key) throws Exception {
    TreeMap<Integer, List<Piece>> parts = uploads.get(key);
    if (parts == null || parts.isEmpty() || random.nextInt(4) == 0) {
      expect(
          parts == null ? ResultCode.NO_SUCH_UPLOAD : ResultCode.OK,
          command()
              .setAbortUpload(
                  AbortUpload.newBuilder().setBucket("b").setKey(key).setUploadId("u")));
      uploads.remove(key);
      return;
    }
    CompleteUpload.Builder complete =
        CompleteUpload.newBuilder().setBucket("b").setKey(key).setUploadId("u");
    List<Piece> whole = new ArrayList<>();
    boolean tooSmall = false;
    List<PartRow> rows = metadata.parts("b", key, "u", 0, 10);
    for (int i = 0; i < rows.size(); i++) {
      boolean isLast = i == rows.size() - 1;
      PartRow row = rows.get(i);
      if (isLast || random.nextInt(4) != 0) {
        complete.addParts(
            CompletePart.newBuilder().setNumber(row.getNumber()).setToken(row.getToken()));
        whole.addAll(parts.getOrDefault(row.getNumber(), List.of()));
        tooSmall |= !isLast && row.getSize() < Uploads.PART_MIN_BYTES;
      }
    }
    expect(
        tooSmall ? ResultCode.ENTITY_TOO_SMALL : ResultCode.OK,
        command().setCompleteUpload(complete));
    if (!tooSmall) {
      uploads.remove(key);
      objects.put(key, whole);
    }
  }

  private void forget() throws Exception {
    ForgetBlobs.Builder forget = ForgetBlobs.newBuilder();
    for (BlobRow row : metadata.garbage(Long.MAX_VALUE, null, 5)) {
      forget.addBlobs(row.getId());
      forgotten.add(BlobId.of(row.getId()));
    }
    expect(ResultCode.OK, command().setForgetBlobs(forget));
  }

  private void check() throws Exception {
    assertEquals(
        List.copyOf(objects.keySet()),
        metadata.list(new ListQuery("b", "", "", "", 1000)).entries().stream()
            .map(entry -> entry.name())
            .toList());
    Map<BlobId, Long> references = new HashMap<>();
    for (Map.Entry<String, List<Piece>> object : objects.entrySet()) {
      ObjectRead read = metadata.object("b", object.getKey()).orElseThrow();
      assertEquals(object.getValue(), slices(read.object().getSlicesList()));
      assertEquals(length(object.getValue()), read.object().getSummary().getSize());
      object.getValue().forEach(piece -> references.merge(piece.blob(), 1L, Long::sum));
    }
    for (Map.Entry<String, TreeMap<Integer, List<Piece>>> upload : uploads.entrySet()) {
      for (PartRow part : metadata.parts("b", upload.getKey(), "u", 0, 10)) {
        List<Piece> expected = upload.getValue().get(part.getNumber());
        assertEquals(expected, slices(part.getSlicesList()));
      }
      upload
          .getValue()
          .values()
          .forEach(part -> part.forEach(p -> references.merge(p.blob(), 1L, Long::sum)));
    }
    checkBlobs(references);
  }

  private void checkBlobs(Map<BlobId, Long> references) throws Exception {
    Set<BlobId> garbage = new HashSet<>();
    metadata
        .garbage(Long.MAX_VALUE, null, 1_000_000)
        .forEach(row -> garbage.add(BlobId.of(row.getId())));
    for (BlobId id : written) {
      List<BlobRow> row = metadata.blobs(List.of(id));
      if (row.isEmpty()) {
        assertEquals(0L, references.getOrDefault(id, 0L));
      } else {
        assertEquals(references.getOrDefault(id, 0L), row.getFirst().getReferences());
        assertEquals(!references.containsKey(id), garbage.contains(id));
        assertEquals(false, forgotten.contains(id));
      }
    }
  }

  private static List<Piece> slices(List<SliceValue> slices) {
    return slices.stream()
        .map(s -> new Piece(BlobId.of(s.getBlob()), s.getOffset(), s.getLength()))
        .toList();
  }
}
