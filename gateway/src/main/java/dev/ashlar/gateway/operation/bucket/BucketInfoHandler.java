package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;

/** Requests answered from the existence and the row of a bucket or an object alone. */
public record BucketInfoHandler(Backend backend) {
  public HttpAnswer handle(S3Request.HeadBucket request, Permit permit) {
    return Answers.empty(
        200, Answers.headers().set("x-amz-bucket-region", permit.bucket().getRegion()));
  }

  public HttpAnswer handle(S3Request.GetBucketLocation request, Permit permit) {
    String region = permit.bucket().getRegion();
    XmlWriter xml = new XmlWriter().openRoot("LocationConstraint");
    return Answers.xml(xml.text(region.equals(S3Config.CLASSIC_REGION) ? "" : region).close());
  }

  public HttpAnswer handle(S3Request.GetUnconfigured request) throws S3Exception {
    return Answers.xml(request.feature().read(), Answers.headers());
  }
}
