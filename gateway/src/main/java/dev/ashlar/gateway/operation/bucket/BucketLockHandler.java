package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.s3.LockValues;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DefaultRetention;
import dev.ashlar.protocol.message.SetBucketLock;

/** Reads and changes the object lock configuration of a bucket. It is never switched off. */
public record BucketLockHandler(Backend backend) {
  public static HttpAnswer handle(S3Request.GetObjectLockConfiguration request, Permit permit)
      throws S3Exception {
    BucketRow bucket = permit.bucket();
    if (!bucket.getHasLock()) {
      throw new S3Exception(S3Error.OBJECT_LOCK_CONFIGURATION_NOT_FOUND)
          .with("BucketName", bucket.getName());
    }
    XmlWriter xml =
        new XmlWriter().openRoot("ObjectLockConfiguration").element("ObjectLockEnabled", "Enabled");
    if (bucket.hasRetention()) {
      DefaultRetention retention = bucket.getRetention();
      xml.open("Rule").open("DefaultRetention").element("Mode", retention.getMode().name());
      if (retention.getDays() > 0) {
        xml.element("Days", retention.getDays());
      } else {
        xml.element("Years", retention.getYears());
      }
      xml.close().close();
    }
    return Answers.xml(xml.close());
  }

  public HttpAnswer handle(S3Request.PutObjectLockConfiguration request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    DefaultRetention retention = LockValues.configuration(BodyIngest.document(body));
    SetBucketLock.Builder set = SetBucketLock.newBuilder().setBucket(request.bucket());
    if (retention != null) {
      set.setRetention(retention);
    }
    backend.submit(Command.newBuilder().setSetBucketLock(set));
    return Answers.empty(200);
  }
}
