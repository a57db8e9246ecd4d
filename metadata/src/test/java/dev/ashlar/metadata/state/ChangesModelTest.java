package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.AbortUpload;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CompletePart;
import dev.ashlar.protocol.message.CompleteUpload;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.CopyPart;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Random commands on metadata and on {@link ChangesModel}; changes are planned on what was seen
 * some commands ago. A peer that follows and one that executes the log again end with the same
 * rows. See {@link SeededRuns}.
 */
class ChangesModelTest {
  private static final Profile PROFILE = new Profile(2, 2, 4096);
  private static final int KEYS = 4;
  private static final int COMMANDS = 400;
  private static final int PLANS_MAX = 12;

  /** With these alone a run of many changes of few objects fills up with unfolded attempts. */
  private static final int CHANGES_ONLY = 75;

  private final Map<ResultCode, Integer> answers = new TreeMap<>();
  private final List<ModifyObject> plans = new ArrayList<>();
  private ChangesModel model = new ChangesModel(PROFILE);
  private MemoryMetadata metadata = MemoryMetadata.withDrives(PROFILE, 5, 4);
  private Random random = new Random();
  private long sequence;
  private long attempts;

  /** One object that is changed, in place, until its blob can take no more. */
  private boolean isCrowded;

  @Test
  void randomChangesDoWhatTheyDoToArrays() throws Exception {
    if (SeededRuns.repeat(40, this::run)) {
      assertEquals(
          Set.of(
              ResultCode.OK,
              ResultCode.NO_SUCH_KEY,
              ResultCode.CONDITIONAL_CONFLICT,
              ResultCode.NOT_DURABLE,
              ResultCode.INVALID_COMMAND,
              ResultCode.INVALID_OFFSET,
              ResultCode.TOO_MANY_UNFOLDED),
          answers.keySet(),
          answers::toString);
    }
  }

  private void run(long seed) throws Exception {
    random = new Random(seed);
    model = new ChangesModel(PROFILE);
    plans.clear();
    sequence = 0;
    attempts = 0;
    metadata = MemoryMetadata.withDrives(PROFILE, 5, 4);
    MemoryTable followed = new MemoryTable();
    MemoryTable replayed = new MemoryTable();
    followed.rows().putAll(metadata.table().rows());
    replayed.rows().putAll(metadata.table().rows());
    MetadataState following = new MetadataState(followed);
    metadata.observe(
        (command, applied) -> {
          following.follow(applied);
          List<CommandResult> again =
              new MetadataState(replayed)
                  .apply(1, applied.reached().getIndex(), MemoryMetadata.entry(fromLog(command)))
                  .results();
          assertEquals(applied.results(), again);
        });
    metadata.submit(TestBlobs.createBucket("b"));
    isCrowded = random.nextInt(4) == 0;
    for (int i = 0; i < COMMANDS; i++) {
      context();
      if (i % 20 == 0) {
        model.check(metadata);
      }
    }
    model.check(metadata);
    assertSameRows(followed);
    assertSameRows(replayed);
  }

  private static Command fromLog(Command command) {
    try {
      return Command.parseFrom(command.toByteArray());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  private void assertSameRows(MemoryTable other) {
    assertEquals(metadata.table().rows().size(), other.rows().size());
    metadata.table().rows().forEach((key, value) -> assertArrayEquals(value, other.get(key)));
  }

  private void context() throws Exception {
    String key = "k" + random.nextInt(isCrowded ? 1 : KEYS);
    int choice = random.nextInt(isCrowded && !model.objects.isEmpty() ? CHANGES_ONLY : 100);
    if (choice < 35 && (model.objects.containsKey(key) || random.nextInt(20) == 0)) {
      plan(key);
      if (isCrowded) {
        submit(plans.size() - 1);
      }
    } else if (choice < 35) {
      put(key);
    } else if (choice < CHANGES_ONLY) {
      submitPlan();
    } else if (choice < 88) {
      fold();
    } else {
      switch (random.nextInt(7)) {
        case 0, 1 -> put(key);
        case 2 -> copyObject("k" + random.nextInt(KEYS), key);
        case 3 -> copyRange("k" + random.nextInt(KEYS), key);
        case 4 -> delete(key);
        case 5 -> move(key);
        default -> forget();
      }
    }
  }

  /** A change that is right for what is there now. */
  private void plan(String key) throws Exception {
    ObjectRead read = metadata.object("b", key).orElse(null);
    List<SliceValue> slices = read == null ? List.of() : read.object().getSlicesList();
    long size = slices.stream().mapToLong(SliceValue::getLength).sum();
    boolean isAppend = random.nextInt(3) == 0;
    long offset = isAppend ? size : random.nextLong(size + 2); // one behind the end is wrong
    long end =
        offset + 1 + random.nextLong(random.nextBoolean() ? 100 : 3L * PROFILE.stripeBytes());
    List<ObjectPiece> pieces = new ArrayList<>();
    Set<BlobId> changed = new HashSet<>();
    long position = offset;
    long begin = 0;
    for (int i = 0; i < slices.size() && position < end; i++) {
      SliceValue slice = slices.get(i);
      BlobRow row = metadata.blobs(List.of(BlobId.of(slice.getBlob()))).getFirst();
      boolean isGrowing =
          i == slices.size() - 1 && slice.getOffset() + slice.getLength() == row.getLength();
      long to = isGrowing ? end : Math.min(end, begin + slice.getLength());
      if (position < to) {
        boolean isInPlace =
            row.getReferences() == 1
                && offset <= size
                && (isCrowded || random.nextInt(8) != 0)
                && changed.add(BlobId.of(slice.getBlob()));
        long from = slice.getOffset() + position - begin;
        pieces.add(isInPlace ? change(row, from, to - position) : fresh(to - position));
        position = to;
      }
      begin += slice.getLength();
    }
    if (position < end) {
      pieces.add(fresh(end - position));
    }
    ModifyObject.Builder command = TestBlobs.modify("b", key, offset, pieces).setAppend(isAppend);
    if (read != null && (random.nextBoolean() || pieces.stream().anyMatch(ObjectPiece::hasBlob))) {
      command.setExpectedVersion(random.nextInt(4) == 0 ? 0 : read.object().getVersion());
    }
    plans.add(command.build());
  }

  private ObjectPiece fresh(long length) {
    BlobId id = new BlobId(metadata.session(), sequence++);
    return TestBlobs.piece(TestBlobs.acknowledged(metadata, id, length));
  }

  private ObjectPiece change(BlobRow row, long offset, long length) {
    BlobChange.Builder change = TestBlobs.change(metadata, row, attempts++, offset, length);
    if (!isCrowded && random.nextInt(8) == 0) {
      change.removeAcks(random.nextInt(change.getAcksCount()));
    }
    return TestBlobs.piece(change);
  }

  private void submitPlan() throws Exception {
    if (!plans.isEmpty()) {
      submit(random.nextInt(plans.size()));
    }
  }

  private void submit(int chosen) throws Exception {
    ModifyObject plan = plans.get(chosen);
    ResultCode expected = model.answer(plan, model.references(metadata));
    CommandResult result = submit(expected, Command.newBuilder().setModifyObject(plan));
    answers.merge(expected, 1, Integer::sum);
    if (expected == ResultCode.OK) {
      model.apply(plan, result.getVersion());
    }
    // Some are sent again later: refused ones may be right then, committed ones never.
    boolean hasFresh = plan.getPiecesList().stream().anyMatch(ObjectPiece::hasBlob);
    if (hasFresh || random.nextInt(4) != 0 || plans.size() > PLANS_MAX) {
      plans.remove(chosen);
    }
  }

  private CommandResult submit(ResultCode expected, Command.Builder command) throws Exception {
    CommandResult result = metadata.submit(command);
    assertEquals(expected, result.getCode(), command::toString);
    return result;
  }

  private void fold() throws Exception {
    List<BlobId> referenced = List.copyOf(new TreeSet<>(model.references(metadata).keySet()));
    if (!referenced.isEmpty()) {
      BlobId id = referenced.get(random.nextInt(referenced.size()));
      BlobRow row = metadata.blobs(List.of(id)).getFirst();
      FoldBlob.Builder fold = TestBlobs.fold(metadata, row, random.nextLong(row.getRevision() + 1));
      if (random.nextInt(10) == 0) {
        fold.removeAcks(random.nextInt(fold.getAcksCount()));
      }
      submit(model.fold(fold.build()), Command.newBuilder().setFoldBlob(fold));
    }
  }

  private void put(String key) throws Exception {
    PutObject.Builder put = PutObject.newBuilder().setBucket("b").setKey(key);
    LongStream bytes = LongStream.empty();
    for (int i = random.nextInt(4); i > 0; i--) {
      NewBlob blob = fresh(1 + random.nextInt(3 * PROFILE.stripeBytes())).getBlob();
      put.addBlobs(blob);
      bytes = LongStream.concat(bytes, Arrays.stream(model.add(blob)));
    }
    long[] all = bytes.toArray();
    put.setSummary(ObjectSummary.newBuilder().setSize(all.length));
    CommandResult result = submit(ResultCode.OK, Command.newBuilder().setPutObject(put));
    replaced(key, all, result);
  }

  private void replaced(String key, long[] bytes, CommandResult result) {
    model.objects.put(key, bytes);
    model.versions.put(key, result.getVersion());
  }

  /** Some bytes get another blob, unless somebody else was faster. */
  private void move(String key) throws Exception {
    long[] present = model.objects.get(key);
    if (present == null) {
      return;
    }
    ObjectRecord object = metadata.object("b", key).orElseThrow().object();
    int offset = random.nextInt(present.length + 1);
    int length = random.nextInt(present.length - offset + 1);
    boolean isOutdated = random.nextInt(8) == 0;
    MoveObject.Builder move =
        MoveObject.newBuilder()
            .setBucket("b")
            .setKey(key)
            .setVersion(object.getVersion())
            .setMoved(object.getMoved() + (isOutdated ? 1 : 0))
            .setOffset(offset);
    NewBlob blob = length > 0 ? fresh(length).getBlob() : NewBlob.getDefaultInstance();
    if (length > 0) {
      move.addBlobs(blob);
    }
    submit(
        isOutdated ? ResultCode.CONDITIONAL_CONFLICT : ResultCode.OK,
        Command.newBuilder().setMoveObject(move));
    if (length > 0 && !isOutdated) {
      long[] moved = present.clone();
      System.arraycopy(model.add(blob), 0, moved, offset, length);
      model.objects.put(key, moved);
    }
  }

  private void delete(String key) throws Exception {
    submit(ResultCode.OK, TestBlobs.delete("b", key));
    model.objects.remove(key);
  }

  private void copyObject(String from, String to) throws Exception {
    long[] source = model.objects.get(from);
    if (source != null) {
      CopyObject.Builder copy =
          CopyObject.newBuilder().setSourceBucket("b").setSourceKey(from).setBucket("b").setKey(to);
      replaced(to, source, submit(ResultCode.OK, Command.newBuilder().setCopyObject(copy)));
    }
  }

  /** An upload whose parts are a range of another object; sometimes it is aborted. */
  private void copyRange(String from, String to) throws Exception {
    long[] source = model.objects.get(from);
    if (source == null) {
      return;
    }
    int offset = random.nextInt(source.length + 1);
    int length = random.nextInt(source.length - offset + 1);
    UploadRow upload = UploadRow.newBuilder().setBucket("b").setKey(to).setUploadId("u").build();
    CopyPart.Builder copy =
        CopyPart.newBuilder()
            .setBucket("b")
            .setKey(to)
            .setUploadId("u")
            .setPart(PartRow.newBuilder().setNumber(1))
            .setSourceBucket("b")
            .setSourceKey(from)
            .setSourceOffset(offset)
            .setSourceLength(length);
    CreateUpload.Builder create = CreateUpload.newBuilder().setUpload(upload);
    submit(ResultCode.OK, Command.newBuilder().setCreateUpload(create));
    long token = submit(ResultCode.OK, Command.newBuilder().setCopyPart(copy)).getVersion();
    if (random.nextInt(4) == 0) {
      AbortUpload.Builder abort =
          AbortUpload.newBuilder().setBucket("b").setKey(to).setUploadId("u");
      submit(ResultCode.OK, Command.newBuilder().setAbortUpload(abort));
    } else {
      CompleteUpload.Builder complete =
          CompleteUpload.newBuilder()
              .setBucket("b")
              .setKey(to)
              .setUploadId("u")
              .addParts(CompletePart.newBuilder().setNumber(1).setToken(token));
      replaced(
          to,
          Arrays.copyOfRange(source, offset, offset + length),
          submit(ResultCode.OK, Command.newBuilder().setCompleteUpload(complete)));
    }
  }

  private void forget() throws Exception {
    ForgetBlobs.Builder forget = ForgetBlobs.newBuilder();
    for (BlobRow row : metadata.garbage(Long.MAX_VALUE, null, 3)) {
      forget.addBlobs(row.getId());
      model.forget(BlobId.of(row.getId()));
    }
    submit(ResultCode.OK, Command.newBuilder().setForgetBlobs(forget));
  }
}
