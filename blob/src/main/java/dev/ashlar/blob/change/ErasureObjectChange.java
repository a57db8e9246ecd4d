package dev.ashlar.blob.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.write.StripeBatch;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.RequestOrigin;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Buffers small changes, so that they can be retried; larger ones go to the drives at once. */
public final class ErasureObjectChange implements ObjectChange {
  private static final int HELD_BYTES_MAX = 1 << 20;
  private static final int HELD_BYTES_FIRST = 16 << 10;
  private static final int TRIES = 6;
  private static final int FOLDS_TRIED = 3;
  private static final int PAUSE_MS = 4; // grows with each try

  private final EngineContext engine;
  private final FoldScheduler folds;
  private final long offset;
  private final long expectedLength;
  private final int heldBytesMax;

  private final RequestMemory memory;
  private ObjectRead object;
  private @Nullable ByteBuffer held;
  // Pieces on the drives that no command names, or only a refused one.
  private @Nullable ChangePieces pieces;
  private boolean isEnded;
  private long length;
  private RequestOrigin origin = RequestOrigin.getDefaultInstance();

  public ErasureObjectChange(
      EngineContext engine,
      FoldScheduler folds,
      ObjectRead object,
      long offset,
      long expectedLength) {
    if (offset < 0 || offset > EncryptedRuns.storedSize(object.object())) {
      throw new IllegalArgumentException("change at " + offset);
    }
    this.engine = engine;
    this.folds = folds;
    this.object = object;
    this.offset = offset;
    this.expectedLength = expectedLength;
    this.heldBytesMax =
        profiles().stream().mapToInt(Profile::stripeBytes).reduce(HELD_BYTES_MAX, Math::min);
    this.memory = new RequestMemory(engine.memory());
    if (expectedLength <= heldBytesMax) {
      int first = expectedLength < 0 ? HELD_BYTES_FIRST : (int) expectedLength;
      held = ByteBuffer.allocate(Math.min(first, heldBytesMax));
    }
  }

  @Override
  public void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    checkOpen();
    int count = bytes.remaining();
    ByteBuffer small = held;
    if (small != null && length + count <= heldBytesMax) {
      held = withRoom(small, count).put(bytes);
    } else {
      flow().write(bytes);
    }
    length += count;
  }

  /** Profiles of new blobs, and of those that may be changed in place, each once. */
  private Set<Profile> profiles() {
    PlacementMap map = engine.metadata().placement();
    Set<Profile> profiles = new HashSet<>();
    profiles.add(ChangePieces.profile(engine, object).profile());
    long end = 0;
    for (SliceValue slice : object.object().getSlicesList()) {
      end += slice.getLength();
      if (end >= offset) { // also the blob at whose end bytes are appended
        map.numbered(BlobId.of(slice.getBlob()).profile())
            .ifPresent(placed -> profiles.add(placed.profile()));
      }
    }
    return profiles;
  }

  /**
   * Reserves memory to begin with. Only now may the request wait for others, so this must suffice
   * for each of its blobs.
   */
  private void open(Set<Profile> profiles) throws DataUnavailableException, InterruptedException {
    EngineConfig config = engine.config();
    memory.open(
        profiles.stream()
            .mapToLong(each -> stepBytesMax(each, config.windowBytes()))
            .reduce(0, Math::max),
        profiles.stream().mapToLong(each -> leastBytes(config, each)).reduce(0, Math::max));
  }

  private ByteBuffer withRoom(ByteBuffer small, int count) {
    if (small.remaining() >= count) {
      return small;
    }
    int capacity = Math.max(2 * small.capacity(), small.position() + count);
    return ByteBuffer.allocate(Math.min(capacity, heldBytesMax)).put(small.flip());
  }

  /** Ends the buffering of a small change. */
  private ChangePieces flow() throws DataUnavailableException, InterruptedException {
    ChangePieces flowing = pieces;
    if (flowing == null) {
      open(profiles());
      long expected = expectedLength < 0 ? Long.MAX_VALUE : expectedLength;
      flowing = new ChangePieces(engine, object, offset, expected, Long.MAX_VALUE, memory);
      pieces = flowing;
      ByteBuffer small = held;
      if (small != null) {
        held = null;
        flowing.write(small.flip());
      }
    }
    return flowing;
  }

  /** Memory that a change of several steps needs while memory is short. */
  public static long leastBytes(EngineConfig config, Profile profile) {
    return stepBytesMax(profile, config.leastWindowBytes());
  }

  private static long stepBytesMax(Profile profile, int windowBytes) {
    int window = EngineConfig.windowStripes(profile, windowBytes) * profile.stripeBytes();
    return Math.max(StripeBatch.bytesMax(profile, window), StripeChange.bytesMax(profile));
  }

  @Override
  public void askedBy(RequestOrigin sender) {
    origin = sender;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public CommandResult commit(ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    checkOpen();
    ByteBuffer small = held;
    if (small == null) {
      return propose(flow(), command);
    }
    small.flip();
    if (command.getExpectedVersion() != 0) {
      return tryOnce(small, command, false); // another version needs other bytes
    }
    for (int tries = 1; ; tries++) {
      CommandResult result = tryOnce(small.duplicate(), command, tries == TRIES);
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        return result;
      }
      Thread.sleep(ThreadLocalRandom.current().nextInt(tries * PAUSE_MS));
      Optional<ObjectRead> now = engine.metadata().object(command.getBucket(), command.getKey());
      if (now.isEmpty()) {
        return result(ResultCode.NO_SUCH_KEY);
      }
      object = now.get();
      long size = EncryptedRuns.storedSize(object.object());
      if (command.getAppend() ? offset != size : offset > size) {
        return result(ResultCode.INVALID_OFFSET);
      }
    }
  }

  private static CommandResult result(ResultCode code) {
    return CommandResult.newBuilder().setCode(code).build();
  }

  private CommandResult tryOnce(ByteBuffer small, ModifyObject.Builder command, boolean isLast)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    ChangePieces fresh = new ChangePieces(engine, object, offset, length, length, memory);
    pieces = fresh;
    try {
      Set<Profile> profiles = profiles();
      if (profiles.size() > 1 && !memory.isOpen()) {
        open(profiles); // else what its only blob needs is reserved by the first piece
      }
      fresh.write(small);
      return propose(fresh, command);
    } catch (DataUnavailableException e) {
      boolean isOutdated =
          switch (e.reason()) {
            case CONFLICT, GONE, MISPLACED -> true;
            case TOO_FEW_DRIVES, FULL, OVERLOADED, CANCELLED, DAMAGED -> false;
          };
      if (!isOutdated || isLast) {
        throw e;
      }
      engine.metrics().conflicts.increment();
      discard();
      return result(ResultCode.CONDITIONAL_CONFLICT);
    }
  }

  private CommandResult propose(ChangePieces written, ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    List<ObjectPiece> finished = written.finish();
    ModifyObject.Builder modify =
        command.clone().setOffset(offset).setLength(length).clearPieces().addAllPieces(finished);
    if (finished.stream().anyMatch(ObjectPiece::hasBlob)) {
      modify.setExpectedVersion(object.object().getVersion());
    }
    CommandResult result = submit(modify);
    switch (result.getCode()) {
      case OK -> finished.forEach(piece -> committed(piece, written));
      // The change may have been committed: its intents may be needed.
      case STALE_REQUEST, INVALID_COMMAND -> isEnded = true;
      case CONDITIONAL_CONFLICT -> {
        engine.metrics().conflicts.increment();
        discard();
      }
      default -> discard();
    }
    return result;
  }

  private void committed(ObjectPiece piece, ChangePieces written) {
    isEnded = true;
    if (piece.hasChange()) {
      folds.committed(BlobId.of(piece.getChange().getBlob()), written.attempt());
    }
  }

  /** Folds the blobs and retries if they have too many unfolded changes. */
  private CommandResult submit(ModifyObject.Builder modify)
      throws MetadataUnavailableException, InterruptedException {
    for (int tries = 0; ; tries++) {
      CommandResult result = submitOnce(modify);
      if (result.getCode() != ResultCode.TOO_MANY_UNFOLDED || tries == FOLDS_TRIED) {
        return result;
      }
      folds.foldNow(
          modify.getPiecesList().stream()
              .filter(ObjectPiece::hasChange)
              .map(piece -> BlobId.of(piece.getChange().getBlob()))
              .toList());
    }
  }

  private CommandResult submitOnce(ModifyObject.Builder modify)
      throws MetadataUnavailableException {
    isEnded = true; // until its outcome is known
    try {
      Command.Builder command = Command.newBuilder().setModifyObject(modify);
      if (!origin.equals(RequestOrigin.getDefaultInstance())) {
        command.setOrigin(origin);
      }
      CommandResult result = engine.metadata().submit(command);
      isEnded = false;
      return result;
    } catch (MetadataUnavailableException e) {
      isEnded = !e.isRefused();
      throw e;
    }
  }

  private void discard() {
    ChangePieces written = pieces;
    if (written != null) {
      pieces = null;
      written.discard();
    }
  }

  /** Removes pieces that no command names, or only a refused one. */
  @Override
  public void close() {
    if (!isEnded) {
      isEnded = true;
      discard();
    }
    memory.close();
  }

  private void checkOpen() {
    if (isEnded) {
      throw new IllegalStateException("the change has ended");
    }
  }
}
