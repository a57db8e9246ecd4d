package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.ResultCode;
import io.netty.handler.codec.http.HttpHeaders;

/** Creates a bucket in the region of this installation. */
public record CreateBucketHandler(Backend backend) {
  public HttpAnswer handle(S3Request.CreateBucket request, Caller caller, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    BucketNames.requireValid(request.bucket());
    byte[] document = BodyIngest.document(body);
    if (document.length > 0) {
      requireThisRegion(XmlReader.read(document, "CreateBucketConfiguration"));
    }
    CreateBucket create =
        CreateBucket.newBuilder()
            .setName(request.bucket())
            .setOwner(caller.canonicalId())
            .setRegion(backend.config().region())
            .build();
    CommandResult result = backend.metadata().submit(Command.newBuilder().setCreateBucket(create));
    if (result.getCode() == ResultCode.LIMIT_EXCEEDED) {
      throw new S3Exception(S3Error.TOO_MANY_BUCKETS);
    }
    // The oldest region still answers a repeated creation by the owner as if it were the first.
    boolean isRepeat =
        result.getCode() == ResultCode.BUCKET_ALREADY_OWNED_BY_YOU
            && backend.config().region().equals(S3Config.CLASSIC_REGION);
    if (!isRepeat) {
      ErrorMapping.requireOk(result);
    }
    HttpHeaders headers = Answers.headers().set("Location", "/" + request.bucket());
    return Answers.empty(200, headers);
  }

  private void requireThisRegion(Element configuration) throws S3Exception {
    if (configuration.child("Location") != null || configuration.child("Bucket") != null) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED, "Directory buckets are not implemented.");
    }
    if (configuration.child("Tags") != null) {
      throw new S3Exception(S3Error.NOT_IMPLEMENTED, "Tags of buckets are not implemented.");
    }
    String constraint = configuration.childText("LocationConstraint");
    if (constraint != null
        && !constraint.isEmpty()
        && !constraint.equals(backend.config().region())) {
      throw new S3Exception(S3Error.INVALID_LOCATION_CONSTRAINT)
          .with("LocationConstraint", constraint);
    }
  }
}
