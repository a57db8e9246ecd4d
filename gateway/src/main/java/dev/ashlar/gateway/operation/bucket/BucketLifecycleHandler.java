package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.lifecycle.LifecycleReader;
import dev.ashlar.gateway.lifecycle.LifecycleRule;
import dev.ashlar.gateway.lifecycle.LifecycleRules;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.gateway.s3.LifecycleRequests;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** Reads and changes the lifecycle rules of a bucket. */
public record BucketLifecycleHandler(Backend backend) {
  public HttpAnswer handle(S3Request.GetBucketLifecycleConfiguration request, Permit permit)
      throws S3Exception {
    LifecycleRules rules = permit.config().lifecycle();
    if (rules == null) {
      throw new S3Exception(S3Error.NO_SUCH_LIFECYCLE_CONFIGURATION)
          .with("BucketName", request.bucket());
    }
    return Answers.xml(LifecycleDocuments.xml(rules), headers(rules.smallObjectsStay()));
  }

  public HttpAnswer handle(S3Request.PutBucketLifecycleConfiguration request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    List<LifecycleRule> rules = LifecycleReader.read(BodyIngest.document(body), this::newId);
    for (LifecycleRule rule : rules) {
      requireClasses(rule);
    }
    put(
        request.bucket(),
        LifecycleDocuments.of(new LifecycleRules(rules, request.smallObjectsStay())));
    return Answers.empty(200, headers(request.smallObjectsStay()));
  }

  public HttpAnswer handle(S3Request.DeleteBucketLifecycle request)
      throws S3Exception, MetadataUnavailableException {
    put(request.bucket(), ByteString.EMPTY);
    return Answers.empty(204);
  }

  private static HttpHeaders headers(boolean smallObjectsStay) {
    return Answers.headers()
        .set(LifecycleRequests.MINIMUM_SIZE, LifecycleRequests.minimumSize(smallObjectsStay));
  }

  private String newId() {
    return HexFormat.of().toHexDigits(backend.random().nextLong());
  }

  private void requireClasses(LifecycleRule rule) throws S3Exception {
    List<String> names =
        Stream.concat(
                rule.transitions().stream().map(LifecycleRule.Transition::storageClass),
                rule.noncurrentTransitions().stream()
                    .map(LifecycleRule.NoncurrentTransition::storageClass))
            .toList();
    for (String name : names) {
      if (backend.metadata().placement().ofClass(name).isEmpty()) {
        throw new S3Exception(S3Error.INVALID_STORAGE_CLASS).with("StorageClassRequested", name);
      }
    }
  }

  private void put(String bucket, ByteString document)
      throws S3Exception, MetadataUnavailableException {
    backend.putDocument(bucket, BucketDocumentKind.LIFECYCLE.number(), document);
  }
}
