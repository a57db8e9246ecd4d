package dev.ashlar.blob.move;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.client.VersionRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveObject;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.PlacedProfile;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Moves a version of an object to another storage class: its bytes are read and written as blobs of
 * the profile of that class, which take the places of the blobs it had. It stays the same version.
 *
 * <p>A large version is moved piece by piece. Each piece is committed on its own, and only if the
 * version still has the slices that were read, so whoever moves may stop anywhere, and several may
 * move the same version at once. A version that changes meanwhile is read again. Safe for many
 * threads.
 */
public final class VersionMover {
  /** Bytes that are read and written again if the mover stops in the middle. */
  private static final long PIECE_BYTES_MAX = 256 << 20;

  /** After each lost race a piece is so many times smaller, down to the least. */
  private static final int SMALLER = 16;

  private static final long LEAST_PIECE_BYTES = 1 << 20;

  /** Pieces up to this length are read at once. */
  private static final long SHORT_BYTES_MAX = 1 << 20;

  /** Lost races one after the other. */
  private static final int TRIES = 6;

  /** An ETag that is the MD5 of the bytes. */
  private static final Pattern MD5 = Pattern.compile("[0-9a-f]{32}");

  private final MetadataClient metadata;
  private final ObjectStore store;
  private final long pieceBytesMax;

  public VersionMover(MetadataClient metadata, ObjectStore store) {
    this(metadata, store, PIECE_BYTES_MAX);
  }

  VersionMover(MetadataClient metadata, ObjectStore store, long pieceBytesMax) {
    this.metadata = metadata;
    this.store = store;
    this.pieceBytesMax = pieceBytesMax;
  }

  /**
   * What is moved, and where.
   *
   * @param version its id
   * @param position in the log at which it was written: another version with the same id is not
   *     moved; 0: whichever has the id
   * @param storageClass as in {@link ObjectSummary}
   */
  public record Order(
      String bucket, String key, VersionRef version, long position, String storageClass) {}

  /** Paces a move and follows it. */
  public interface Follower {
    /** What bytes are read with. */
    ByteRateLimiter rate();

    /** Whether to go on with the next piece. */
    boolean goesOn() throws MetadataUnavailableException;

    /** So many bytes have other blobs now. */
    void moved(long bytes);
  }

  /** What a move came to. */
  public enum Outcome {
    /** The version has the class and blobs of its profile. */
    MOVED,
    /** It had them already. */
    UNCHANGED,
    /** The version is gone, or another one has its id. */
    GONE,
    /** The follower did not want to go on. */
    STOPPED
  }

  /**
   * Moves a version.
   *
   * @throws UnavailableException when its bytes cannot be read or written now, or metadata does not
   *     answer
   * @throws NotMovedException when it cannot be moved for another reason
   */
  public Outcome move(Order order, Follower follower)
      throws UnavailableException, NotMovedException, InterruptedException {
    try {
      return moveSteps(order, follower);
    } catch (RuntimeException e) {
      // A bug that one version meets does not stop the moves of all others.
      throw new NotMovedException("an internal error: " + e);
    }
  }

  private Outcome moveSteps(Order order, Follower follower)
      throws UnavailableException, NotMovedException, InterruptedException {
    long piece = pieceBytesMax;
    int lost = 0;
    boolean isMoved = false;
    while (follower.goesOn()) {
      Optional<ObjectRead> read = read(order);
      if (read.isEmpty()) {
        return Outcome.GONE;
      }
      Step step = Step.next(read.get(), profile(order), order.storageClass(), piece);
      if (step == null) {
        return isMoved ? Outcome.MOVED : Outcome.UNCHANGED;
      }
      ResultCode code = carryOut(step, order, follower);
      if (code == ResultCode.OK) {
        follower.moved(step.bytes());
        isMoved = true;
        lost = 0;
        if (step.isLast()) {
          return Outcome.MOVED;
        }
      } else if (!isLost(code)) {
        throw new NotMovedException("metadata refuses it: " + code);
      } else if (++lost == TRIES) {
        throw new NotMovedException("it changes all the time");
      } else {
        piece = Math.max(Math.min(piece, LEAST_PIECE_BYTES), piece / SMALLER);
      }
    }
    return Outcome.STOPPED;
  }

  /** Whether the version is no longer what it was when it was read. */
  private static boolean isLost(ResultCode code) {
    return switch (code) {
      case CONDITIONAL_CONFLICT, NO_SUCH_VERSION, NO_SUCH_BUCKET, NO_SUCH_PROFILE -> true;
      default -> false;
    };
  }

  private Optional<ObjectRead> read(Order order) throws MetadataUnavailableException {
    if (metadata.version(order.bucket(), order.key(), order.version())
        instanceof VersionRead.Content content) {
      long position = content.read().object().getVersion();
      return order.position() == 0 || order.position() == position
          ? Optional.of(content.read())
          : Optional.empty();
    }
    return Optional.empty();
  }

  private PlacedProfile profile(Order order) throws NotMovedException {
    String name = PlacedProfile.className(order.storageClass());
    return metadata
        .placement()
        .ofClass(name)
        .orElseThrow(() -> new NotMovedException("there is no profile " + name));
  }

  private ResultCode carryOut(Step step, Order order, Follower follower)
      throws UnavailableException, NotMovedException, InterruptedException {
    ByteRange range = step.range();
    if (range == null) {
      return metadata.submit(command(step, order)).getCode();
    }
    // A short piece is paid for when it is committed: a wait in between would let others win.
    boolean isShort = range.length() <= SHORT_BYTES_MAX;
    RangeCopy.Observer pace =
        isShort ? bytes -> {} : bytes -> follower.rate().take(bytes.remaining());
    ResultCode code;
    try {
      code =
          new RangeCopy(step.source(), range, step.profile().number())
              .run(store, pace, written -> commit(written, step, order))
              .getCode();
    } catch (DataUnavailableException e) {
      if (e.reason() != Reason.GONE) {
        throw e;
      }
      code = ResultCode.CONDITIONAL_CONFLICT;
    }
    if (isShort) {
      follower.rate().take(range.length());
    }
    return code;
  }

  private static CommandResult commit(ObjectWriter written, Step step, Order order)
      throws UnavailableException, NotMovedException, InterruptedException {
    ObjectRecord object = step.source().object();
    String etag = object.getSummary().getEtag();
    boolean isWhole = written.length() == object.getSummary().getSize();
    if (isWhole
        && !EncryptedRuns.isEncrypted(object) // the ETag is of the plain bytes
        && MD5.matcher(etag).matches()
        && !etag.equals(HexFormat.of().formatHex(written.md5()))) {
      throw new NotMovedException("the MD5 of its bytes is not its ETag " + etag);
    }
    return written.commit(
        blobs -> {
          Command.Builder command = command(step, order);
          command.getMoveObjectBuilder().addAllBlobs(blobs);
          return command;
        });
  }

  private static Command.Builder command(Step step, Order order) {
    ObjectRecord object = step.source().object();
    MoveObject.Builder move =
        MoveObject.newBuilder()
            .setBucket(order.bucket())
            .setKey(order.key())
            .setVersion(object.getVersion())
            .setMoved(object.getMoved());
    ByteRange range = step.range();
    if (range != null) {
      move.setOffset(range.offset());
    }
    if (step.isLast()) {
      move.setStorageClass(order.storageClass());
    }
    return Command.newBuilder().setMoveObject(move);
  }
}
