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
import dev.ashlar.protocol.client.BucketsQuery;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import java.util.List;

/** Lists the buckets of the caller. */
public record ListBucketsHandler(Backend backend) {
  public HttpAnswer handle(S3Request.ListBuckets request, Caller caller)
      throws S3Exception, MetadataUnavailableException {
    String after =
        request.continuationToken().isEmpty()
            ? ""
            : ContinuationToken.decode(request.continuationToken());
    String owner = caller.canonicalId();
    int max = request.maxBuckets();
    // One more than asked for tells whether there are more.
    List<BucketRow> matching =
        backend
            .metadata()
            .buckets(new BucketsQuery(owner, request.prefix(), request.region(), after, max + 1));
    int count = Math.min(matching.size(), max);
    XmlWriter xml = new XmlWriter().openRoot("ListAllMyBucketsResult");
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
