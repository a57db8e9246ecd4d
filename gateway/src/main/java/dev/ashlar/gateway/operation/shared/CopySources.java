package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;

/** Finds the source objects of CopyObject and UploadPartCopy, and decides on reading them. */
public final class CopySources {
  private final AccessControl access;

  public CopySources(AccessControl access) {
    this.access = access;
  }

  /** The current version of the source; PreconditionFailed if it does not meet its conditions. */
  public ObjectRecord open(CopySource source, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    if (source.expectedOwner() != null) {
      access.requireExpectedOwner(source.bucket(), source.expectedOwner());
    }
    ObjectRecord object = access.require(caller, source.needs()).object().object();
    ObjectSummary summary = object.getSummary();
    if (source.conditions().judge(summary.getEtag(), summary.getLastModifiedMs()) != Verdict.PASS) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
    return object;
  }
}
