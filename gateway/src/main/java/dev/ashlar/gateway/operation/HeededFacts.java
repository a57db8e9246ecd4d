package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.access.policy.value.ConditionContext;
import dev.ashlar.gateway.s3.S3Request;
import java.util.List;

/**
 * The facts about a request in which headers count as far as the request heeds them: else senders
 * could meet the condition of a policy with a header that changes nothing.
 */
record HeededFacts(ConditionContext others, S3Request request) implements ConditionContext {
  private static final String ACL = "s3:x-amz-acl";
  private static final String GRANT = "s3:x-amz-grant-";

  @Override
  public List<String> values(String key) {
    return switch (key) {
      case "s3:x-amz-copy-source" -> source();
      case "s3:x-amz-metadata-directive" ->
          request instanceof S3Request.CopyObject ? others.values(key) : List.of();
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
