package dev.ashlar.gateway.operation.change;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes new bytes for a range of an object.
 *
 * @param customer opens an object with SSE-C
 */
record ChangeIngest(Backend backend, CustomerFields customer) {
  /** Changes up to this length are kept in memory, and tried again when they lose a race. */
  private static final int HELD_BYTES_MAX = 1 << 20;

  private static final int TRIES = 6;
  private static final int PAUSE_MS = 4; // grows with each try

  /**
   * The range that a change writes.
   *
   * @param length of the body
   */
  record Place(ObjectRead object, long offset, long length) {
    ObjectSummary summary() {
      return object.object().getSummary();
    }

    ByteRange range() {
      return new ByteRange(offset, length);
    }

    /** Whether the change begins at the object's end. */
    boolean isAppend() {
      return offset == summary().getSize();
    }
  }

  /**
   * Writes the body to the drives and submits the command that makes it visible.
   *
   * @param announced the algorithm of the checksum that comes with the body
   * @param command with the conditions of the request
   * @return CONDITIONAL_CONFLICT also when the data could not be written for that reason
   */
  CommandResult commit(
      Place place, PayloadBody body, ChecksumAlgorithm announced, ModifyObject.Builder command)
      throws S3Exception, UnavailableException, InterruptedException {
    requireAllowed(place);
    Incoming incoming = new Incoming(place, body, announced, command);
    ObjectContent content = open(place.object, command);
    DataKey key = content.key();
    if (key != null) {
      return place.length > HELD_BYTES_MAX
          ? sealed(content, key, place, incoming)
          : sealedSmall(content, place, incoming);
    }
    try (ObjectChange change =
        backend.store().newChange(place.object, place.offset, place.length)) {
      incoming.copyTo(change::write);
      backend.tellOrigin(change);
      return change.commit(command);
    } catch (DataUnavailableException e) {
      return conflict(e);
    }
  }

  private ObjectContent open(ObjectRead object, ModifyObject.Builder command)
      throws S3Exception, InterruptedException {
    ObjectContent.Place place = new ObjectContent.Place(command.getBucket(), command.getKey());
    return ObjectContent.open(backend, place, object, customer);
  }

  /** The body on its way, with the checksum that the object will have. */
  private record Incoming(
      Place place, PayloadBody body, ChecksumAlgorithm announced, ModifyObject.Builder command) {
    void copyTo(BodyIngest.Sink sink)
        throws S3Exception, DataUnavailableException, InterruptedException {
      if (!place.isAppend()) {
        BodyIngest.copy(body, sink);
        return;
      }
      AppendedChecksum checksum = AppendedChecksum.begin(place.summary(), body, announced);
      BodyIngest.copy(
          body,
          bytes -> {
            checksum.update(bytes);
            sink.write(bytes);
          });
      setChecksum(command, place, checksum.after(body.checksum(), place.length));
    }
  }

  /** The result of a change that lost a race, and may be tried again. */
  private static CommandResult conflict(DataUnavailableException e)
      throws DataUnavailableException {
    if (e.reason() != Reason.CONFLICT) {
      throw e;
    }
    return result(ResultCode.CONDITIONAL_CONFLICT);
  }

  /** The same for a change that reads the object, whose bytes may be gone by then. */
  private static CommandResult conflictOrGone(DataUnavailableException e)
      throws DataUnavailableException {
    return e.reason() == Reason.GONE ? result(ResultCode.CONDITIONAL_CONFLICT) : conflict(e);
  }

  private static CommandResult result(ResultCode code) {
    return CommandResult.newBuilder().setCode(code).build();
  }

  private CommandResult sealed(ObjectContent content, DataKey key, Place place, Incoming incoming)
      throws S3Exception, UnavailableException, InterruptedException {
    try (SealedChange change = new SealedChange(backend, content, key, place.range())) {
      incoming.copyTo(change::write);
      return change.commit(incoming.command);
    } catch (DataUnavailableException e) {
      return conflictOrGone(e);
    }
  }

  /** Encrypts the bytes again for each state of the object that it meets. */
  private CommandResult sealedSmall(ObjectContent first, Place place, Incoming incoming)
      throws S3Exception, UnavailableException, InterruptedException {
    byte[] held = new byte[(int) place.length];
    incoming.copyTo(ByteBuffer.wrap(held)::put);
    ModifyObject.Builder command = incoming.command;
    ObjectContent content = first;
    for (int tries = 1; ; tries++) {
      CommandResult result = sealedOnce(content, place, ByteBuffer.wrap(held), command);
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        return result;
      }
      Thread.sleep(backend.random().nextInt(tries * PAUSE_MS));
      Optional<ObjectRead> now = backend.metadata().object(command.getBucket(), command.getKey());
      if (now.isEmpty()) {
        return result(ResultCode.NO_SUCH_KEY);
      }
      long size = now.get().object().getSummary().getSize();
      if (command.getAppend() ? place.offset != size : place.offset > size) {
        return result(ResultCode.INVALID_OFFSET);
      }
      content = open(now.get(), command);
    }
  }

  private CommandResult sealedOnce(
      ObjectContent content, Place place, ByteBuffer bytes, ModifyObject.Builder command)
      throws UnavailableException, InterruptedException {
    DataKey key = content.key();
    if (key == null) { // another object took its place
      return result(ResultCode.CONDITIONAL_CONFLICT);
    }
    try (SealedChange change = new SealedChange(backend, content, key, place.range())) {
      change.write(bytes);
      return change.commit(command);
    } catch (DataUnavailableException e) {
      return conflictOrGone(e);
    }
  }

  /** Refuses a change where versions are kept: each would be a version that never changes. */
  static void requireNoVersions(BucketRow bucket) throws S3Exception {
    if (VersionId.areKept(bucket)) {
      throw new S3Exception(
          S3Error.INVALID_BUCKET_STATE,
          "Objects in buckets with versioning cannot be appended to or patched.");
    }
  }

  /** Refuses an empty change, as Amazon S3 does. */
  static void requireBytes(long length) throws S3Exception {
    if (length == 0) {
      throw S3Exception.invalidRequest(
          "Request body cannot be empty when 'write offset' is specified.");
    }
  }

  private static void requireAllowed(Place place) throws S3Exception {
    requireBytes(place.length);
    // Subtracted, because the sum may exceed a long.
    if (place.length > SizeLimits.OBJECT_BYTES_MAX - place.offset) {
      throw SizeLimits.tooLarge(place.offset + place.length, SizeLimits.OBJECT_BYTES_MAX);
    }
  }

  private static void setChecksum(
      ModifyObject.Builder command, Place place, ChecksumValue checksum) {
    if (Checksums.isPresent(checksum)) {
      command.setChecksum(checksum).setChecksumBase(place.object.object().getVersion());
    }
  }

  /**
   * The checksum of an object after an append. A full-object CRC is continued over the appended
   * bytes; any other checksum is lost, unless the object was empty.
   */
  private static final class AppendedChecksum {
    private final ChecksumValue before;
    private final boolean isFirst;
    private final boolean isCarried;
    // Only if the body computes another algorithm than the object has.
    private final @Nullable RunningDigest running;

    private AppendedChecksum(ObjectSummary object, ChecksumAlgorithm ofBody) {
      before = object.getChecksum();
      isFirst = object.getSize() == 0;
      isCarried = !isFirst && Checksums.isFullObjectCrc(before);
      boolean isOther = isCarried && ofBody != before.getAlgorithm();
      running = isOther ? ChecksumKind.of(before.getAlgorithm()).start() : null;
    }

    /**
     * Begins, and makes the body compute the needed checksum if it computes none.
     *
     * @param announced the algorithm of the checksum that comes with the body
     */
    static AppendedChecksum begin(
        ObjectSummary object, PayloadBody body, ChecksumAlgorithm announced) {
      ChecksumAlgorithm ofBody = announced;
      if (announced == ChecksumAlgorithm.CHECKSUM_NONE) {
        if (object.getSize() == 0) {
          ofBody = ChecksumAlgorithm.CHECKSUM_CRC64NVME;
        } else if (Checksums.isFullObjectCrc(object.getChecksum())) {
          ofBody = object.getChecksum().getAlgorithm();
        }
        if (ofBody != ChecksumAlgorithm.CHECKSUM_NONE) {
          body.alsoCompute(ofBody);
        }
      }
      return new AppendedChecksum(object, ofBody);
    }

    /** Adds appended bytes; does not change the position of the buffer. */
    void update(ByteBuffer bytes) {
      if (running != null) {
        running.update(bytes.duplicate());
      }
    }

    /**
     * The object's checksum after the append.
     *
     * @param ofBody the checksum of the appended bytes that the body computed
     * @param length of the appended bytes
     */
    ChecksumValue after(ChecksumValue ofBody, long length) {
      if (isFirst) {
        return ofBody;
      }
      if (!isCarried) {
        return ChecksumValue.getDefaultInstance();
      }
      ByteString appended =
          running == null ? ofBody.getValue() : ByteString.copyFrom(running.value());
      ChecksumKind kind = ChecksumKind.of(before.getAlgorithm());
      return before.toBuilder().setValue(kind.append(before.getValue(), appended, length)).build();
    }
  }
}
