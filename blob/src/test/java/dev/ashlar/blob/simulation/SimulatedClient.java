package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.engine.ReadBytes;
import dev.ashlar.blob.move.RangeCopy;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CopyObject;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Puts, appends, patches, copies, deletes and reads a few objects at random, and compares what it
 * is told with the model: a change that was acknowledged happened once, one that was refused never,
 * and a read gives the bytes of the moment in which it looked the object up.
 */
final class SimulatedClient {
  static final String BUCKET = "b";
  private static final int KEYS = 3;

  private final SimulatedProcess process;
  private final BytesModel model;
  private final Profile profile;
  private final Random random;
  private final BooleanSupplier hadFaults;

  /** All that it uses. */
  static List<String> keys() {
    return IntStream.range(0, KEYS).mapToObj(i -> "k" + i).toList();
  }

  String anyKey() {
    return "k" + random.nextInt(KEYS);
  }

  boolean hadFaults() {
    return hadFaults.getAsBoolean();
  }

  /** What a change does. */
  interface Change {
    CommandResult run() throws Exception;
  }

  /**
   * @param hadFaults whether drives or metadata have done anything that excuses a refusal
   */
  SimulatedClient(
      SimulatedProcess process,
      BytesModel model,
      Profile profile,
      Random random,
      BooleanSupplier hadFaults) {
    this.process = process;
    this.model = model;
    this.profile = profile;
    this.random = random;
    this.hadFaults = hadFaults;
  }

  void run(int steps) throws Exception {
    for (int i = 0; i < steps && !process.isDead(); i++) {
      try {
        step(anyKey());
      } catch (MetadataUnavailableException e) {
        assertTrue(hadFaults.getAsBoolean() || process.isDead(), "metadata is unavailable");
      }
    }
  }

  private void step(String key) throws Exception {
    switch (random.nextInt(18)) {
      case 16, 17 -> new SimulatedUpload(this, process, model, random, key).run();
      case 0, 1 -> put(key);
      case 2 -> delete(key);
      case 3 -> copy(key, anyKey());
      case 4, 5, 6, 7 -> change(key, true);
      case 8, 9, 10, 11 -> change(key, false);
      default -> read(key);
    }
  }

  private void put(String key) throws Exception {
    byte[] bytes = bytes(random.nextInt(10) == 0 ? 0 : length());
    boolean ifAbsent = random.nextInt(4) == 0;
    PutObject.Builder put =
        PutObject.newBuilder()
            .setBucket(BUCKET)
            .setKey(key)
            .setSummary(ObjectSummary.newBuilder().setSize(bytes.length).setEtag("e"));
    if (ifAbsent) {
      put.setPrecondition(Precondition.newBuilder().setIfNoneMatch("*"));
    }
    write(
        key,
        model.state(key),
        to -> to.put(key, bytes, ifAbsent),
        ifAbsent
            ? List.of(ResultCode.PRECONDITION_FAILED, ResultCode.NO_SUCH_PROFILE)
            : List.of(ResultCode.NO_SUCH_PROFILE),
        () -> {
          try (ObjectWriter writer =
              process.store.newWriter(anyProfile(), random.nextBoolean() ? bytes.length : -1)) {
            writePieces(bytes, writer::write);
            return writer.commit(
                blobs -> Command.newBuilder().setPutObject(put.clone().addAllBlobs(blobs)));
          }
        });
  }

  /** The number of a profile; it may be removed before the data is committed. */
  private int anyProfile() {
    List<PlacedProfile> present = process.client.placement().present();
    return present.size() == 1
        ? present.getFirst().number()
        : present.get(random.nextInt(present.size())).number();
  }

  private boolean hasProfiles() {
    return process.client.placement().present().size() > 1;
  }

  private void delete(String key) throws Exception {
    write(
        key,
        model.state(key),
        to -> to.delete(key),
        List.of(),
        () ->
            process.client.submit(
                Command.newBuilder()
                    .setDeleteObjects(DeleteObjects.newBuilder().setBucket(BUCKET).addKeys(key))));
  }

  private void copy(String source, String target) throws Exception {
    Optional<ObjectRead> object = lookUp(source);
    if (object.isEmpty() || source.equals(target)) {
      return;
    }
    if (hasProfiles() && random.nextBoolean()) {
      reencode(object.get(), source, target);
      return;
    }
    CopyObject.Builder copy =
        CopyObject.newBuilder()
            .setSourceBucket(BUCKET)
            .setSourceKey(source)
            .setSourceVersion(object.get().object().getVersion())
            .setSourceMoved(object.get().object().getMoved())
            .setBucket(BUCKET)
            .setKey(target)
            .setSummary(object.get().object().getSummary());
    write(
        source,
        process.seen(),
        to -> to.copy(source, target),
        List.of(ResultCode.CONDITIONAL_CONFLICT, ResultCode.NO_SUCH_KEY),
        () -> process.client.submit(Command.newBuilder().setCopyObject(copy)));
  }

  /** A copy with blobs of its own, of any profile. */
  private void reencode(ObjectRead object, String source, String target) throws Exception {
    BytesModel.State before = process.seen();
    byte[] bytes = before.bytes();
    if (bytes == null || bytes.length == 0) {
      return;
    }
    RangeCopy copy = new RangeCopy(object, new ByteRange(0, bytes.length), anyProfile());
    PutObject.Builder put =
        PutObject.newBuilder()
            .setBucket(BUCKET)
            .setKey(target)
            .setSummary(object.object().getSummary())
            .setCopied(true);
    write(
        source,
        before,
        to -> to.put(target, bytes, false),
        List.of(ResultCode.NO_SUCH_PROFILE),
        () ->
            copy.run(
                process.store,
                piece -> {},
                written ->
                    written.commit(
                        blobs ->
                            Command.newBuilder().setPutObject(put.clone().addAllBlobs(blobs)))));
  }

  private void change(String key, boolean isAppend) throws Exception {
    Optional<ObjectRead> object = lookUp(key);
    if (object.isEmpty()) {
      put(key);
      return;
    }
    int size = (int) object.get().object().getSummary().getSize();
    int offset = isAppend ? size : offset(size);
    byte[] bytes = bytes(length());
    boolean isGivenUp = random.nextInt(12) == 0;
    ModifyObject.Builder modify =
        ModifyObject.newBuilder().setBucket(BUCKET).setKey(key).setAppend(isAppend);
    write(
        key,
        process.seen(),
        to -> to.change(key, offset, bytes, isAppend),
        List.of(
            ResultCode.INVALID_OFFSET,
            ResultCode.CONDITIONAL_CONFLICT,
            ResultCode.NO_SUCH_KEY,
            ResultCode.NO_SUCH_PROFILE,
            ResultCode.TOO_MANY_UNFOLDED),
        () -> {
          int hint = random.nextInt(3) == 0 ? -1 : bytes.length;
          try (ObjectChange change = process.store.newChange(object.get(), offset, hint)) {
            writePieces(bytes, change::write);
            return isGivenUp
                ? CommandResult.newBuilder().setCode(ResultCode.NO_SUCH_KEY).build()
                : change.commit(modify);
          }
        });
  }

  /** Where bytes go. */
  interface Target {
    void write(ByteBuffer bytes) throws Exception;
  }

  /** All of them, in pieces of any size. */
  void writePieces(byte[] bytes, Target target) throws Exception {
    for (int at = 0; at < bytes.length; ) {
      int count = Math.min(bytes.length - at, 1 + random.nextInt(2 * bytes.length));
      target.write(ByteBuffer.wrap(bytes, at, count));
      at += count;
    }
  }

  /** Does it, and compares what it answers with whether metadata has committed it. */
  void write(
      String key,
      BytesModel.State before,
      Consumer<BytesModel> effect,
      List<ResultCode> refusals,
      Change change)
      throws Exception {
    SimulatedProcess.Request request = new SimulatedProcess.Request(effect);
    process.begin(request);
    try {
      ResultCode code = change.run().getCode();
      assertEquals(code == ResultCode.OK ? 1 : 0, request.commits(), () -> "answered " + code);
      boolean isExcused = code == ResultCode.NOT_DURABLE && hadFaults.getAsBoolean();
      assertTrue(
          code == ResultCode.OK || refusals.contains(code) || isExcused, () -> "answered " + code);
      if (code == ResultCode.CONDITIONAL_CONFLICT) {
        assertTrue(model.isTouchedSince(key, before) || haveMoved(), "a conflict with nobody");
      }
    } catch (DataUnavailableException e) {
      assertEquals(0, request.commits(), "refused, but committed");
      checkExcuse(key, before, e);
    } catch (MetadataUnavailableException e) {
      assertTrue(request.commits() <= (e.isRefused() ? 0 : 1), "committed and refused");
      throw e;
    } finally {
      process.end();
    }
  }

  /** A change of a shard that moves, or is made anew after a fault, may be refused for that. */
  private boolean haveMoved() {
    return process.client.placement().epoch() > 1 || hadFaults.getAsBoolean();
  }

  void checkExcuse(String key, BytesModel.State before, DataUnavailableException e) {
    boolean isExcused =
        process.isDead()
            || switch (e.reason()) {
              case TOO_FEW_DRIVES, OVERLOADED, FULL -> hadFaults.getAsBoolean();
              case MISPLACED -> haveMoved();
              case CONFLICT -> model.isTouchedSince(key, before) || haveMoved();
              case GONE -> model.isTouchedSince(key, before);
              case CANCELLED, DAMAGED -> false;
            };
    if (!isExcused) {
      throw new AssertionError("no reason for " + e.reason(), e);
    }
  }

  Optional<ObjectRead> lookUp(String key) throws MetadataUnavailableException {
    Optional<ObjectRead> object = process.client.object(BUCKET, key);
    byte[] expected = process.seen().bytes();
    assertEquals(expected != null, object.isPresent(), () -> key + " is there");
    if (expected != null) {
      assertEquals(expected.length, object.get().object().getSummary().getSize(), key);
    }
    return object;
  }

  private void read(String key) throws Exception {
    Optional<ObjectRead> object = lookUp(key);
    BytesModel.State before = process.seen();
    byte[] expected = before.bytes();
    long lookedUpMs = process.nowMs();
    if (object.isEmpty() || expected == null || expected.length == 0) {
      return;
    }
    int from = random.nextInt(4) == 0 ? 0 : offset(expected.length - 1);
    int to = from + 1 + random.nextInt(expected.length - from);
    ReadBytes read = new ReadBytes();
    for (int i = random.nextInt(4) == 0 ? random.nextInt(60) : 0; i > 0; i--) {
      SteppedThreads.pause();
    }
    boolean isInGrace = process.isInGrace(lookedUpMs);
    try {
      process.store.read(object.get(), new ByteRange(from, to - from), slowly(read));
      assertArrayEquals(Arrays.copyOfRange(expected, from, to), read.bytes(), key);
    } catch (DataUnavailableException e) {
      byte[] begun = read.bytes();
      assertArrayEquals(Arrays.copyOfRange(expected, from, from + begun.length), begun, key);
      checkExcuse(key, before, e);
      assertTrue(!isInGrace || process.isDead() || areKept(object.get()), "removed too early");
    }
  }

  /** Whether metadata still has all that the object was made of when it was looked up. */
  private boolean areKept(ObjectRead object) throws MetadataUnavailableException {
    List<BlobId> ids =
        object.object().getSlicesList().stream()
            .map(slice -> BlobId.of(slice.getBlob()))
            .distinct()
            .toList();
    return process.client.blobs(ids).size() == ids.size();
  }

  private DataSink slowly(DataSink sink) {
    return piece -> {
      sink.accept(piece);
      for (int i = random.nextInt(8); i > 5; i--) {
        SteppedThreads.pause();
      }
    };
  }

  /** Of any length, but often around the edges of strips and stripes. */
  private int length() {
    int unit = profile.stripeUnit();
    int stripe = profile.stripeBytes();
    return switch (random.nextInt(6)) {
      case 0 -> 1 + random.nextInt(100);
      case 1 -> unit * (1 + random.nextInt(3)) + random.nextInt(3) - 1;
      case 2 -> stripe * (1 + random.nextInt(2)) + random.nextInt(3) - 1;
      case 3 -> 1 + random.nextInt(4 * stripe);
      default -> 1 + random.nextInt(2 * unit);
    };
  }

  private int offset(int max) {
    int unit = random.nextBoolean() ? profile.stripeUnit() : profile.stripeBytes();
    int any = random.nextInt(max + 1);
    int edge = any / unit * unit + random.nextInt(3) - 1;
    return random.nextInt(3) == 0 ? any : Math.clamp(edge, 0, max);
  }

  byte[] someBytes() {
    return bytes(length());
  }

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }
}
