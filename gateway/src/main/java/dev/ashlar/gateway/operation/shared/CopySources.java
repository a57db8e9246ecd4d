package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.ResultCode;
import io.netty.handler.codec.http.HttpHeaders;

/** Copies from the objects that CopyObject and UploadPartCopy name. */
public record CopySources(Backend backend, Caller caller) {
  private static final int TRIES = 5;

  /** Submits a command that copies the version of the source that may be read. */
  public interface Copy<T> {
    Attempt<T> from(Permit source) throws S3Exception, UnavailableException, InterruptedException;
  }

  /**
   * What came of a command.
   *
   * @param copy what it makes if its result is OK
   */
  public record Attempt<T>(CommandResult result, T copy) {}

  /** A copy that was made. */
  public static final class Copied<T> {
    private final Permit permit;
    private final Attempt<T> attempt;

    Copied(Permit permit, Attempt<T> attempt) {
      this.permit = permit;
      this.attempt = attempt;
    }

    public T copy() {
      return attempt.copy();
    }

    public CommandResult result() {
      return attempt.result();
    }

    /**
     * Names the version that was copied, where its bucket keeps versions, and says if the requester
     * pays for reading it.
     */
    public void addSource(HttpHeaders headers) {
      Answers.addCharge(headers, permit);
      String id = VersionId.of(permit.object().object(), permit.bucket());
      if (id != null) {
        headers.set("x-amz-copy-source-version-id", id);
      }
    }
  }

  /** Copies the version that is named, or else the present one. */
  public <T> Copied<T> copy(CopySource from, Copy<T> copy)
      throws S3Exception, UnavailableException, InterruptedException {
    // The source may be replaced while it is copied: then what is there now is copied.
    for (int tries = 1; ; tries++) {
      Permit source = open(from);
      try {
        Attempt<T> attempt = copy.from(source);
        ResultCode code = attempt.result().getCode();
        if (code == ResultCode.NO_SUCH_KEY) {
          open(from); // If it is the source that is gone, a read tells what is missing.
        }
        if (code != ResultCode.CONDITIONAL_CONFLICT || tries == TRIES) {
          ErrorMapping.requireOk(code);
          return new Copied<>(source, attempt);
        }
      } catch (DataUnavailableException e) {
        if (e.reason() != Reason.GONE || tries == TRIES) {
          throw e;
        }
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
