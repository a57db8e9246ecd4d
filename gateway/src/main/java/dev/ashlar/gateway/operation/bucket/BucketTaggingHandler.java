package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.TagSet;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** Reads and changes the tags of a bucket. They are kept as the document that S3 answers. */
public record BucketTaggingHandler(Backend backend) {
  public HttpAnswer handle(S3Request.GetBucketTagging request)
      throws S3Exception, MetadataUnavailableException {
    ByteString document = backend.document(request.bucket(), BucketDocumentKind.TAGS.number());
    if (document == null) {
      throw new S3Exception(S3Error.NO_SUCH_TAG_SET).with("BucketName", request.bucket());
    }
    return Answers.xml(document.toByteArray(), Answers.headers());
  }

  public HttpAnswer handle(S3Request.PutBucketTagging request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    TagSet tags = TagSet.of(BodyIngest.document(body), TagSet.BUCKET_TAGS_MAX);
    return put(
        request.bucket(), tags.isEmpty() ? ByteString.EMPTY : ByteString.copyFrom(tags.document()));
  }

  public HttpAnswer handle(S3Request.DeleteBucketTagging request)
      throws S3Exception, MetadataUnavailableException {
    return put(request.bucket(), ByteString.EMPTY);
  }

  /**
   * @param document empty: none
   */
  private HttpAnswer put(String bucket, ByteString document)
      throws S3Exception, MetadataUnavailableException {
    backend.putDocument(bucket, BucketDocumentKind.TAGS.number(), document);
    return Answers.empty(204);
  }
}
