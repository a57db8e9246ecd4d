package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;

/** Copies from the objects that CopyObject and UploadPartCopy name. */
public record CopySources(Backend backend, Caller caller) {
  private static final int TRIES = 5;

  /** Makes the command that copies this version of the source. */
  public interface Copy {
    Command.Builder of(ObjectRecord source) throws S3Exception, MetadataUnavailableException;
  }

  /**
   * A copy that was made.
   *
   * @param source the version that was copied
   */
  public record Copied(ObjectRecord source, CommandResult result) {}

  /** Copies the current version of the source. */
  public Copied copy(CopySource from, Copy copy) throws S3Exception, MetadataUnavailableException {
    for (int tries = 1; ; tries++) {
      ObjectRecord source = open(from);
      CommandResult result = backend.metadata().submit(copy.of(source));
      // The source was replaced after it was read: copy what is there now.
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        return new Copied(source, ErrorMapping.requireOk(result));
      }
    }
  }

  /** The current version, on whose reading is decided here. */
  private ObjectRecord open(CopySource source) throws S3Exception, MetadataUnavailableException {
    if (source.expectedOwner() != null) {
      backend.access().requireExpectedOwner(source.bucket(), source.expectedOwner());
    }
    ObjectRecord object = backend.access().require(caller, source.needs()).object().object();
    ObjectSummary summary = object.getSummary();
    if (source.conditions().judge(summary.getEtag(), summary.getLastModifiedMs()) != Verdict.PASS) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
    return object;
  }
}
