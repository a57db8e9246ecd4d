package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Conditions.Verdict;
import dev.ashlar.gateway.s3.S3Request.CopySource;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ObjectRecord;
import dev.ashlar.protocol.message.ObjectSummary;

/** Opens what CopyObject and UploadPartCopy copy from. */
public final class CopySources {
  private final Buckets buckets;

  public CopySources(Buckets buckets) {
    this.buckets = buckets;
  }

  /** The source as it is now; PreconditionFailed when it does not meet its conditions. */
  public ObjectRecord open(CopySource source, String caller)
      throws S3Exception, MetadataUnavailableException {
    if (source.expectedOwner() != null) {
      buckets.requireOwner(source.bucket(), source.expectedOwner());
    }
    ObjectRecord object = buckets.ownedObject(source.bucket(), source.key(), caller).object();
    ObjectSummary summary = object.getSummary();
    if (source.conditions().judge(summary.getEtag(), summary.getLastModifiedMs()) != Verdict.PASS) {
      throw new S3Exception(S3Error.PRECONDITION_FAILED);
    }
    return object;
  }
}
