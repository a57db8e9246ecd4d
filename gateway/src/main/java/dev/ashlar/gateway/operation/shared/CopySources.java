package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import io.netty.handler.codec.http.HttpHeaders;

/** Copies from the objects that CopyObject and UploadPartCopy name. */
public record CopySources(Backend backend, Caller caller) {
  private static final int TRIES = 5;

  /** Makes the command that copies the version of the source that may be read. */
  public interface Copy {
    Command.Builder of(Permit source) throws S3Exception, MetadataUnavailableException;
  }

  /** A copy that was made. */
  public static final class Copied {
    private final Permit permit;
    private final CommandResult result;

    Copied(Permit permit, CommandResult result) {
      this.permit = permit;
      this.result = result;
    }

    /** The version that was copied. */
    public ObjectRecord source() {
      return permit.object().object();
    }

    public CommandResult result() {
      return result;
    }

    /** Names the version that was copied, where its bucket keeps versions. */
    public void addSourceVersion(HttpHeaders headers) {
      String id = VersionId.of(source(), permit.bucket());
      if (id != null) {
        headers.set("x-amz-copy-source-version-id", id);
      }
    }
  }

  /** Copies the version that is named, or else the present one. */
  public Copied copy(CopySource from, Copy copy) throws S3Exception, MetadataUnavailableException {
    for (int tries = 1; ; tries++) {
      Permit source = open(from);
      CommandResult result = backend.metadata().submit(copy.of(source));
      if (result.getCode() == ResultCode.NO_SUCH_KEY) {
        open(from); // If it is the source that is gone, a read tells what is missing.
      }
      // The source was replaced after it was read: copy what is there now.
      if (result.getCode() != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
        return new Copied(source, ErrorMapping.requireOk(result));
      }
    }
  }

  /** The version, on whose reading is decided here. */
  private Permit open(CopySource source) throws S3Exception, MetadataUnavailableException {
    if (source.expectedOwner() != null) {
      backend.access().requireExpectedOwner(source.bucket(), source.expectedOwner());
    }
    Permit permit = require(source);
    ObjectSummary summary = permit.object().object().getSummary();
    if (source.conditions().judge(summary.getEtag(), summary.getLastModifiedMs()) != Verdict.PASS) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
    return permit;
  }

  private Permit require(CopySource source) throws S3Exception, MetadataUnavailableException {
    try {
      return backend.access().require(caller, source.needs());
    } catch (S3Exception e) {
      if (e.error() == S3Error.METHOD_NOT_ALLOWED) {
        throw S3Exception.invalidRequest(
            "The source of a copy request may not specifically refer to a delete marker by"
                + " version id.");
      }
      throw e;
    }
  }
}
