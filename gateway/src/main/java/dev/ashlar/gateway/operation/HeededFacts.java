package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.encryption.key.KmsKeyArn;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Precondition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The facts about a request in which headers count as far as the request heeds them: else senders
 * could meet the condition of a policy with a header that changes nothing.
 */
record HeededFacts(ConditionContext others, S3Request request, MetadataClient metadata)
    implements ConditionContext {
  private static final String ACL = "s3:x-amz-acl";
  private static final String GRANT = "s3:x-amz-grant-";

  @Override
  public List<String> values(String key) {
    return switch (key) {
      case "s3:x-amz-copy-source" -> source();
      // A renamed object keeps its class.
      case "s3:x-amz-storage-class" ->
          request instanceof S3Request.RenameObject ? List.of() : others.values(key);
      case "s3:x-amz-metadata-directive" ->
          request instanceof S3Request.CopyObject ? others.values(key) : List.of();
      case "s3:if-match" -> given(condition().getIfMatch());
      case "s3:if-none-match" -> given(condition().getIfNoneMatch());
      case "s3:objectcreationoperation" -> List.of(Boolean.toString(!isOfUpload()));
      case "s3:x-amz-server-side-encryption" ->
          request instanceof S3Request.UploadRequest part
              ? new UploadFacts(metadata, part).algorithm()
              : given(encryption().algorithm());
      case "s3:x-amz-server-side-encryption-aws-kms-key-id" ->
          request instanceof S3Request.UploadRequest part
              ? new UploadFacts(metadata, part).kmsKeyId()
              : given(encryption().kmsKeyId()).stream().map(KmsKeyArn::id).toList();
      case "s3:x-amz-server-side-encryption-customer-algorithm" -> given(customerAlgorithm());
      default -> !isAboutAcl(key) || heedsAcl() ? others.values(key) : List.of();
    };
  }

  /** As it was read, since headers can spell a source in several ways. */
  private List<String> source() {
    return switch (request) {
      case S3Request.CopyObject copy -> List.of(copy.source().name());
      case S3Request.UploadPartCopy copy -> List.of(copy.source().name());
      default -> List.of();
    };
  }

  private static List<String> given(@Nullable String value) {
    return value == null || value.isEmpty() ? List.of() : List.of(value);
  }

  /** What decides how an object is encrypted that the request makes. */
  private EncryptionFields encryption() {
    return switch (request) {
      case S3Request.VersionRequest write -> write.encryption();
      case S3Request.AppendObject append -> append.encryption();
      default -> EncryptionFields.NONE;
    };
  }

  private @Nullable String customerAlgorithm() {
    return switch (request) {
      case S3Request.PatchObject patch -> patch.customer().algorithm();
      case S3Request.UploadPart part -> part.customer().algorithm();
      case S3Request.UploadPartCopy part -> part.customer().algorithm();
      case S3Request.CompleteMultipartUpload complete -> complete.customer().algorithm();
      default -> encryption().customer().algorithm();
    };
  }

  /** On what a write finds under its key. */
  private Precondition condition() {
    return switch (request) {
      case S3Request.PutObject put -> put.precondition();
      case S3Request.CopyObject copy -> copy.precondition();
      case S3Request.CompleteMultipartUpload complete -> complete.precondition();
      case S3Request.AppendObject append -> append.precondition();
      case S3Request.PatchObject patch -> patch.precondition();
      case S3Request.RenameObject rename -> rename.precondition();
      default -> Precondition.getDefaultInstance();
    };
  }

  /** Whether the request prepares an object that another one will make. */
  private boolean isOfUpload() {
    return switch (request) {
      case S3Request.CreateMultipartUpload create -> true;
      case S3Request.UploadPart part -> true;
      case S3Request.UploadPartCopy part -> true;
      default -> false;
    };
  }

  private static boolean isAboutAcl(String key) {
    return key.equals(ACL) || key.startsWith(GRANT);
  }

  /** Parts belong to an object whose ACL was decided on when its upload began. */
  private boolean heedsAcl() {
    return switch (request) {
      case S3Request.RenameObject rename -> false;
      case S3Request.AppendObject append -> false;
      case S3Request.PatchObject patch -> false;
      default -> true;
    };
  }
}
