package dev.ashlar.storage.drive.change;

import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.cache.ShardRange;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogRequest.ChangedBlocks;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.read.ShardReader;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Converts an intent to whole blocks with their new content, as the log stores them. If the intent
 * changes part of a block, the rest is read; deltas are added to the former parity. Thread-safe.
 */
public final class IntentBuilder {
  private static final int BLOCK = SegmentFormat.BLOCK;

  private final ShardReader reader;
  private final OpenDrive drive;
  private final Function<Profile, ErasureCode> codes;

  public IntentBuilder(OpenDrive drive, ShardReader reader, Function<Profile, ErasureCode> codes) {
    this.drive = drive;
    this.reader = reader;
    this.codes = codes;
  }

  /** Like {@link #make}, but returns null if an index lookup or a read is necessary. */
  public LogRequest.@Nullable Prepare makeAtOnce(ShardIntent intent, Completion<DriveId> completion)
      throws ShardException {
    ShardIntent.Target target = intent.target();
    if (target.base().lastChange() > 0 && !reader.isKnownToHave(target.shard(), target.base())) {
      return null;
    }
    if (intent instanceof ShardIntent.Bytes bytes && isWhole(bytes)) {
      return request(intent, whole(bytes), false, completion);
    }
    List<Integer> loads = new ArrayList<>();
    LogRequest.Prepare request =
        changed(
            intent,
            (range, memory) -> {
              int bytes = drive.changed().recent().load(range, memory);
              loads.add(bytes);
              return bytes;
            },
            completion);
    if (request != null) {
      loads.forEach(drive.meters()::foundRecent);
    }
    return request;
  }

  /** Whether it replaces all bytes of the blocks that it changes. */
  private static boolean isWhole(ShardIntent.Bytes bytes) {
    return bytes.offset() % BLOCK == 0
        && (bytes.end() % BLOCK == 0 || bytes.end() >= bytes.target().baseLength());
  }

  /**
   * Whether the bytes match their checksums. Wrong bytes must not be stored with valid checksums.
   */
  public static boolean matches(ShardIntent intent) {
    return switch (intent) {
      case ShardIntent.Bytes bytes -> matches(bytes.offset(), bytes.payload(), bytes.crcs());
      case ShardIntent.Deltas deltas -> {
        boolean all = true;
        for (ShardIntent.Delta delta : deltas.deltas()) {
          all &= matches(delta.offset(), delta.bytes(), delta.crcs());
        }
        yield all;
      }
    };
  }

  private static boolean matches(long offset, ByteBuffer bytes, int[] crcs) {
    Checksum checksum = new Checksum();
    ByteBuffer all = bytes.duplicate();
    int end = bytes.limit();
    int from = bytes.position();
    int room = BLOCK - (int) (offset % BLOCK);
    for (int crc : crcs) {
      int length = Math.min(room, end - from);
      if (checksum.of(all.clear(), from, length) != crc) {
        return false;
      }
      from += length;
      room = BLOCK;
    }
    return true;
  }

  /** Reads missing bytes; the completion of the request releases the memory for them. */
  public LogRequest.Prepare make(ShardIntent intent, Completion<DriveId> completion)
      throws ShardException {
    if (intent instanceof ShardIntent.Bytes bytes && isWhole(bytes)) {
      checkBase(intent.target());
      return request(intent, whole(bytes), false, completion);
    }
    return Objects.requireNonNull(changed(intent, this::read, completion));
  }

  private int read(ShardRange range, ByteBuffer memory) throws ShardException {
    int bytes = reader.load(range, memory);
    drive.meters().payloadRead(bytes);
    return bytes;
  }

  /** Builds a request; null if the source lacks necessary bytes. */
  private LogRequest.@Nullable Prepare changed(
      ShardIntent intent, BlockImage.Source source, Completion<DriveId> completion)
      throws ShardException {
    BlockImage image = new BlockImage(intent.target(), ranges(intent), drive.slabs());
    boolean done = false;
    try {
      List<ChangedBlocks> pieces =
          switch (intent) {
            case ShardIntent.Bytes bytes -> merged(bytes, image, source);
            case ShardIntent.Deltas deltas -> added(deltas, image, source);
          };
      if (pieces == null) {
        return null;
      }
      if (!image.hasLoaded()) {
        checkBase(intent.target()); // a read checks the base as well
      }
      LogRequest.Prepare request =
          request(intent, pieces, true, releasing(image.slab(), completion));
      done = true;
      return request;
    } finally {
      if (!done) {
        image.slab().release();
      }
    }
  }

  private void checkBase(ShardIntent.Target target) throws ShardException {
    if (target.base().lastChange() > 0) {
      reader.checkHas(target.shard(), target.base());
    }
  }

  private static Completion<DriveId> releasing(Slab slab, Completion<DriveId> completion) {
    return Completion.of(
        drive -> {
          slab.release();
          completion.succeeded(drive);
        },
        failure -> {
          slab.release();
          completion.failed(failure);
        });
  }

  private static List<ByteRange> ranges(ShardIntent intent) {
    return switch (intent) {
      case ShardIntent.Bytes bytes -> List.of(range(bytes.offset(), bytes.payload()));
      case ShardIntent.Deltas deltas ->
          deltas.deltas().stream().map(delta -> range(delta.offset(), delta.bytes())).toList();
    };
  }

  private static ByteRange range(long offset, ByteBuffer bytes) {
    return new ByteRange(offset, bytes.remaining());
  }

  private LogRequest.Prepare request(
      ShardIntent intent,
      List<ChangedBlocks> pieces,
      boolean isMadeFromOld,
      Completion<DriveId> completion) {
    ShardIntent.Target target = intent.target();
    int bytes = SegmentFormat.HEADER_BYTES;
    for (ChangedBlocks piece : pieces) {
      ShardPiece.Intent role = new ShardPiece.Intent(target.attempt(), 0, false, false);
      bytes +=
          SegmentFormat.pieceHeaderBytes(role, Extent.Stamp.ORIGINAL, piece.crcs().length)
              + piece.payload().remaining();
    }
    if (SegmentFormat.roundUp(bytes) > drive.limits().batchBytesMax()) {
      throw new IllegalArgumentException("an intent of " + bytes + " bytes");
    }
    return new LogRequest.Prepare(
        target.shard(),
        target.attempt(),
        target.base().lastChange(),
        pieces,
        isMadeFromOld,
        completion);
  }

  /** The caller's buffer, split at the end of the shard's blocks. */
  private static List<ChangedBlocks> whole(ShardIntent.Bytes bytes) {
    int firstBlock = (int) (bytes.offset() / BLOCK);
    int existing = BlockImage.blocks(bytes.target().baseLength()) - firstBlock;
    List<ChangedBlocks> pieces = new ArrayList<>(2);
    int cut = Math.clamp(existing, 0, bytes.crcs().length);
    boolean alters = bytes.offset() < bytes.target().baseLength();
    addPiece(pieces, bytes, 0, cut, alters);
    addPiece(pieces, bytes, cut, bytes.crcs().length, false);
    return pieces;
  }

  private static void addPiece(
      List<ChangedBlocks> pieces, ShardIntent.Bytes bytes, int from, int to, boolean alters) {
    if (from < to) {
      ByteBuffer payload = bytes.payload().duplicate();
      int begin = payload.position() + from * BLOCK;
      payload.limit(Math.min(payload.limit(), payload.position() + to * BLOCK)).position(begin);
      int firstBlock = (int) (bytes.offset() / BLOCK) + from;
      boolean replaces = firstBlock < BlockImage.blocks(bytes.target().baseLength());
      pieces.add(
          new ChangedBlocks(
              firstBlock, payload, Arrays.copyOfRange(bytes.crcs(), from, to), replaces, alters));
    }
  }

  private static @Nullable List<ChangedBlocks> merged(
      ShardIntent.Bytes bytes, BlockImage image, BlockImage.Source source) throws ShardException {
    int firstBlock = (int) (bytes.offset() / BLOCK);
    int lastBlock = (int) ((bytes.end() - 1) / BLOCK);
    boolean leavesEnd = bytes.end() % BLOCK != 0 && bytes.end() < bytes.target().baseLength();
    boolean mergesFirst = bytes.offset() % BLOCK != 0 || (leavesEnd && lastBlock == firstBlock);
    boolean mergesLast = leavesEnd && lastBlock > firstBlock;
    boolean isOneLoad = mergesFirst && mergesLast && lastBlock == firstBlock + 1;
    boolean isLoaded =
        isOneLoad
            ? image.load(source, firstBlock, lastBlock + 1)
            : (!mergesFirst || image.load(source, firstBlock, firstBlock + 1))
                && (!mergesLast || image.load(source, lastBlock, lastBlock + 1));
    if (!isLoaded) {
      return null;
    }
    image.slice(range(bytes.offset(), bytes.payload())).put(bytes.payload().duplicate());
    int[] crcs = bytes.crcs().clone();
    if (mergesFirst) {
      crcs[0] = image.crc(firstBlock);
    }
    if (mergesLast) {
      crcs[crcs.length - 1] = image.crc(lastBlock);
    }
    return image.pieces(crcs);
  }

  private @Nullable List<ChangedBlocks> added(
      ShardIntent.Deltas deltas, BlockImage image, BlockImage.Source source) throws ShardException {
    if (!image.loadAll(source)) {
      return null;
    }
    ErasureCode code = codes.apply(deltas.profile());
    for (ShardIntent.Delta delta : deltas.deltas()) {
      ByteBuffer parity = image.slice(range(delta.offset(), delta.bytes()));
      code.updateParity(delta.dataShard(), deltas.parityRow(), delta.bytes().duplicate(), parity);
    }
    return image.pieces(image.crcs());
  }
}
