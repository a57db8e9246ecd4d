package dev.ashlar.gateway.operation.access;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.access.policy.decision.PublicAccessBlock;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.AccessDocuments;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketPolicyDocument;

/**
 * Reads and replaces the policy, the public access block and the ownership controls of a bucket.
 */
public record BucketAccessHandler(Backend backend) {
  public HttpAnswer handle(S3Request.BucketAccessRequest request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    BucketConfig bucket = permit.config();
    return switch (request) {
      case S3Request.GetBucketPolicy get -> policy(bucket);
      case S3Request.PutBucketPolicy put -> putPolicy(put, permit, BodyIngest.document(body));
      case S3Request.DeleteBucketPolicy delete -> remove(delete, permit, AccessDocument.POLICY);
      case S3Request.GetBucketPolicyStatus get -> policyStatus(bucket);
      case S3Request.GetPublicAccessBlock get -> block(bucket);
      case S3Request.PutPublicAccessBlock put -> putBlock(put, permit, BodyIngest.document(body));
      case S3Request.DeletePublicAccessBlock delete ->
          remove(delete, permit, AccessDocument.PUBLIC_ACCESS_BLOCK);
      case S3Request.GetBucketOwnershipControls get -> ownership(bucket);
      case S3Request.PutBucketOwnershipControls put ->
          putOwnership(put, permit, BodyIngest.document(body));
      case S3Request.DeleteBucketOwnershipControls delete ->
          remove(delete, permit, AccessDocument.OWNERSHIP);
    };
  }

  private void put(
      S3Request request, Permit permit, AccessDocument kind, DocumentChanges.Change change)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    new DocumentChanges(backend).put(permit, request.needs(), kind, change);
  }

  private HttpAnswer remove(S3Request request, Permit permit, AccessDocument kind)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    put(request, permit, kind, present -> ByteString.EMPTY);
    return Answers.empty(204);
  }

  // ---- The policy ----

  private static HttpAnswer policy(BucketConfig bucket) throws S3Exception {
    ByteString text = bucket.policyText();
    if (text == null) {
      throw noPolicy(bucket);
    }
    return new HttpAnswer(
        200,
        Answers.headers().set("Content-Type", "application/json"),
        new HttpAnswer.Bytes(text.toByteArray()));
  }

  private static S3Exception noPolicy(BucketConfig bucket) {
    return new S3Exception(S3Error.NO_SUCH_BUCKET_POLICY)
        .with("BucketName", bucket.row().getName());
  }

  private HttpAnswer policyStatus(BucketConfig bucket) throws S3Exception {
    Policy policy = bucket.policy();
    boolean hasAcl = backend.config().answers().policyStatusHasAcl();
    if (policy == null && !hasAcl) {
      throw noPolicy(bucket);
    }
    boolean isPublic = (policy != null && policy.isPublic()) || (hasAcl && bucket.acl().isPublic());
    return Answers.xml(
        new XmlWriter().openRoot("PolicyStatus").element("IsPublic", isPublic).close());
  }

  private HttpAnswer putPolicy(S3Request.PutBucketPolicy request, Permit permit, byte[] document)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Policy policy;
    try {
      policy = Policy.parse(document, PolicyKind.bucket(request.bucket()));
    } catch (MalformedPolicyException e) {
      throw new S3Exception(S3Error.MALFORMED_POLICY, String.valueOf(e.getMessage()));
    }
    ByteString stored =
        BucketPolicyDocument.newBuilder()
            .setText(ByteString.copyFrom(document))
            .setOwnerRemoved(request.removesSelf())
            .build()
            .toByteString();
    put(
        request,
        permit,
        AccessDocument.POLICY,
        present -> {
          if (policy.isPublic() && present.config().blockInForce().blockPublicPolicy()) {
            throw new S3Exception(S3Error.ACCESS_DENIED);
          }
          return stored;
        });
    return Answers.empty(204);
  }

  // ---- The public access block ----

  private static HttpAnswer block(BucketConfig bucket) throws S3Exception {
    PublicAccessBlock block = bucket.block();
    if (block == null) {
      throw new S3Exception(S3Error.NO_SUCH_PUBLIC_ACCESS_BLOCK_CONFIGURATION)
          .with("BucketName", bucket.row().getName());
    }
    return Answers.xml(
        new XmlWriter()
            .openRoot("PublicAccessBlockConfiguration")
            .element("BlockPublicAcls", block.blockPublicAcls())
            .element("IgnorePublicAcls", block.ignorePublicAcls())
            .element("BlockPublicPolicy", block.blockPublicPolicy())
            .element("RestrictPublicBuckets", block.restrictPublicBuckets())
            .close());
  }

  private HttpAnswer putBlock(
      S3Request.PutPublicAccessBlock request, Permit permit, byte[] document)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element wanted = XmlReader.read(document, "PublicAccessBlockConfiguration");
    PublicAccessBlock block =
        new PublicAccessBlock(
            flag(wanted, "BlockPublicAcls"),
            flag(wanted, "IgnorePublicAcls"),
            flag(wanted, "BlockPublicPolicy"),
            flag(wanted, "RestrictPublicBuckets"));
    put(request, permit, AccessDocument.PUBLIC_ACCESS_BLOCK, present -> AccessDocuments.of(block));
    return Answers.empty(200);
  }

  /** False unless it is given. */
  private static boolean flag(Element wanted, String name) throws S3Exception {
    String text = wanted.childText(name);
    return switch (text == null ? "false" : text.strip()) {
      case "true", "TRUE" -> true;
      case "false", "FALSE" -> false;
      default -> throw new S3Exception(S3Error.MALFORMED_XML);
    };
  }

  // ---- The ownership controls ----

  private static HttpAnswer ownership(BucketConfig bucket) throws S3Exception {
    ObjectOwnership ownership = bucket.ownership();
    if (ownership == null) {
      throw new S3Exception(S3Error.OWNERSHIP_CONTROLS_NOT_FOUND)
          .with("BucketName", bucket.row().getName());
    }
    return Answers.xml(
        new XmlWriter()
            .openRoot("OwnershipControls")
            .open("Rule")
            .element("ObjectOwnership", ownership.text())
            .close()
            .close());
  }

  private HttpAnswer putOwnership(
      S3Request.PutBucketOwnershipControls request, Permit permit, byte[] document)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element controls = XmlReader.read(document, "OwnershipControls");
    Element rule = controls.child("Rule");
    if (rule == null || controls.children().size() != 1) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    ObjectOwnership ownership =
        ObjectOwnership.named(rule.required("ObjectOwnership").strip())
            .orElseThrow(() -> new S3Exception(S3Error.MALFORMED_XML));
    put(
        request,
        permit,
        AccessDocument.OWNERSHIP,
        present -> {
          if (ownership == ObjectOwnership.BUCKET_OWNER_ENFORCED
              && present.config().acl().grantsToOthers(present.bucket().getOwner())) {
            throw new S3Exception(S3Error.INVALID_BUCKET_ACL_WITH_OBJECT_OWNERSHIP);
          }
          return AccessDocuments.of(ownership);
        });
    return Answers.empty(200);
  }
}
