package dev.ashlar.gateway.operation.change;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Writes new bytes for a range of an object. */
record ChangeIngest(Backend backend) {
  /**
   * The range that a change writes.
   *
   * @param length of the body
   */
  record Place(ObjectRead object, long offset, long length) {
    ObjectSummary summary() {
      return object.object().getSummary();
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
    try (ObjectChange change =
        backend.store().newChange(place.object, place.offset, place.length)) {
      if (place.isAppend()) {
        AppendedChecksum checksum = AppendedChecksum.begin(place.summary(), body, announced);
        BodyIngest.copy(
            body,
            bytes -> {
              checksum.update(bytes);
              change.write(bytes);
            });
        setChecksum(command, place, checksum.after(body.checksum(), place.length));
      } else {
        BodyIngest.copy(body, change::write);
      }
      return change.commit(command);
    } catch (DataUnavailableException e) {
      if (e.reason() == Reason.CONFLICT) {
        return CommandResult.newBuilder().setCode(ResultCode.CONDITIONAL_CONFLICT).build();
      }
      throw e;
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
