package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.Buckets;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import org.jspecify.annotations.Nullable;

/** What only needs to know that a bucket or an object is there and whose it is. */
public final class BucketInfoHandler {
  private final Backend backend;
  private final Buckets buckets;

  public BucketInfoHandler(Backend backend, Buckets buckets) {
    this.backend = backend;
    this.buckets = buckets;
  }

  public HttpAnswer handle(S3Request.HeadBucket request, String caller)
      throws S3Exception, MetadataUnavailableException {
    BucketRow bucket = buckets.owned(request.bucket(), caller);
    return Answers.empty(200, Answers.headers().set("x-amz-bucket-region", bucket.getRegion()));
  }

  public HttpAnswer handle(S3Request.GetBucketLocation request, String caller)
      throws S3Exception, MetadataUnavailableException {
    String region = buckets.owned(request.bucket(), caller).getRegion();
    XmlWriter xml = new XmlWriter().openRoot("LocationConstraint");
    return Answers.xml(xml.text(region.equals(S3Config.CLASSIC_REGION) ? "" : region).close());
  }

  public HttpAnswer handle(S3Request.GetUnconfigured request, String caller)
      throws S3Exception, MetadataUnavailableException {
    requireThere(request.bucket(), request.key(), caller);
    return Answers.xml(request.subresource().read(), Answers.headers());
  }

  public HttpAnswer handle(S3Request.GetAcl request, String caller)
      throws S3Exception, MetadataUnavailableException {
    requireThere(request.bucket(), request.key(), caller);
    String name = backend.config().ownerDisplayName();
    XmlWriter xml = new XmlWriter().openRoot("AccessControlPolicy");
    xml.person("Owner", caller, name).open("AccessControlList").open("Grant");
    xml.openTyped("Grantee", "CanonicalUser")
        .element("ID", caller)
        .element("DisplayName", name)
        .close()
        .element("Permission", "FULL_CONTROL");
    return Answers.xml(xml.close().close().close());
  }

  public HttpAnswer handle(S3Request.PutCannedAcl request, String caller)
      throws S3Exception, MetadataUnavailableException {
    requireThere(request.bucket(), request.key(), caller);
    return Answers.empty(200);
  }

  private void requireThere(String bucket, @Nullable String key, String caller)
      throws S3Exception, MetadataUnavailableException {
    if (key == null) {
      buckets.owned(bucket, caller);
    } else {
      buckets.ownedObject(bucket, key, caller);
    }
  }
}
