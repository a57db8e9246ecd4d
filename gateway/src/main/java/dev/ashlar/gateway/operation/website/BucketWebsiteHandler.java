package dev.ashlar.gateway.operation.website;

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
import dev.ashlar.gateway.website.WebsiteDocument;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** Reads and changes how a bucket is a website. It is kept as the document that S3 answers. */
public record BucketWebsiteHandler(Backend backend) {
  public HttpAnswer handle(S3Request.GetBucketWebsite request)
      throws S3Exception, MetadataUnavailableException {
    ByteString document = backend.document(request.bucket(), BucketDocumentKind.WEBSITE.number());
    if (document == null) {
      throw new S3Exception(S3Error.NO_SUCH_WEBSITE_CONFIGURATION)
          .with("BucketName", request.bucket());
    }
    return Answers.xml(document.toByteArray(), Answers.headers());
  }

  public HttpAnswer handle(S3Request.PutBucketWebsite request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    byte[] document = WebsiteDocument.write(WebsiteDocument.read(BodyIngest.document(body)));
    put(request.bucket(), ByteString.copyFrom(document));
    return Answers.empty(200);
  }

  public HttpAnswer handle(S3Request.DeleteBucketWebsite request)
      throws S3Exception, MetadataUnavailableException {
    put(request.bucket(), ByteString.EMPTY);
    return Answers.empty(204);
  }

  private void put(String bucket, ByteString document)
      throws S3Exception, MetadataUnavailableException {
    backend.putDocument(bucket, BucketDocumentKind.WEBSITE.number(), document);
  }
}
