package dev.ashlar.gateway.operation.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.s3.SizeLimits;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;

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
      throws S3Exception,
          MetadataUnavailableException,
          DataUnavailableException,
          InterruptedException {
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

  /** Refuses an empty change, as Amazon S3 does. */
  static void requireBytes(long length) throws S3Exception {
    if (length == 0) {
      throw new S3Exception(
          S3Error.INVALID_REQUEST,
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
}
