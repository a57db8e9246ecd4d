package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import java.util.List;

/** Lists the buckets of the caller. */
public record ListBucketsHandler(Backend backend) {
  private static boolean isIn(String region, BucketRow bucket) {
    return region.isEmpty() || bucket.getRegion().equals(region);
  }

  public HttpAnswer handle(S3Request.ListBuckets request, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    String after =
        request.continuationToken().isEmpty()
            ? ""
            : ContinuationToken.decode(request.continuationToken());
    List<BucketRow> matching =
        backend.metadata().buckets().stream()
            .filter(bucket -> bucket.getOwner().equals(caller.canonicalId()))
            .filter(bucket -> bucket.getName().startsWith(request.prefix()))
            .filter(bucket -> isIn(request.region(), bucket))
            .filter(bucket -> bucket.getName().compareTo(after) > 0)
            .toList();
    int count = Math.min(matching.size(), request.maxBuckets());
    XmlWriter xml = new XmlWriter().openRoot("ListAllMyBucketsResult");
    String owner = caller.canonicalId();
    xml.person("Owner", owner, new DisplayNames(backend, caller).of(owner));
    xml.open("Buckets");
    for (BucketRow bucket : matching.subList(0, count)) {
      xml.open("Bucket")
          .element("Name", bucket.getName())
          .element("CreationDate", S3Dates.xml(bucket.getCreatedAtMs()))
          .element("BucketRegion", bucket.getRegion())
          .close();
    }
    xml.close();
    if (count > 0 && count < matching.size()) {
      xml.element("ContinuationToken", ContinuationToken.encode(matching.get(count - 1).getName()));
    }
    return Answers.xml(xml.close());
  }
}
