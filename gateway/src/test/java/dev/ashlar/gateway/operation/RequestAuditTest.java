package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.operation.shared.OperationNames;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3RequestParser;
import dev.ashlar.gateway.s3.VirtualHosts;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The audit log calls operations what S3's API calls them. */
class RequestAuditTest {
  /** Of S3's API; to append and to patch are extensions of it. */
  private static final Set<String> NAMES_OF_CLASSES =
      Set.of(
          "AbortMultipartUpload",
          "AppendObject",
          "CompleteMultipartUpload",
          "CopyObject",
          "CreateBucket",
          "CreateMultipartUpload",
          "DeleteBucket",
          "DeleteBucketCors",
          "DeleteBucketEncryption",
          "DeleteBucketLifecycle",
          "DeleteBucketOwnershipControls",
          "DeleteBucketPolicy",
          "DeleteBucketTagging",
          "DeleteBucketWebsite",
          "DeleteObject",
          "DeleteObjectTagging",
          "DeleteObjects",
          "DeletePublicAccessBlock",
          "GetBucketCors",
          "GetBucketEncryption",
          "GetBucketLifecycleConfiguration",
          "GetBucketLocation",
          "GetBucketLogging",
          "GetBucketNotificationConfiguration",
          "GetBucketOwnershipControls",
          "GetBucketPolicy",
          "GetBucketPolicyStatus",
          "GetBucketRequestPayment",
          "GetBucketTagging",
          "GetBucketVersioning",
          "GetBucketWebsite",
          "GetObject",
          "GetObjectAttributes",
          "GetObjectLegalHold",
          "GetObjectLockConfiguration",
          "GetObjectRetention",
          "GetObjectTagging",
          "GetPublicAccessBlock",
          "HeadBucket",
          "HeadObject",
          "ListBuckets",
          "ListMultipartUploads",
          "ListObjectVersions",
          "ListObjects",
          "ListObjectsV2",
          "ListParts",
          "PatchObject",
          "PostObject",
          "PutBucketCors",
          "PutBucketEncryption",
          "PutBucketLifecycleConfiguration",
          "PutBucketLogging",
          "PutBucketNotificationConfiguration",
          "PutBucketOwnershipControls",
          "PutBucketPolicy",
          "PutBucketRequestPayment",
          "PutBucketTagging",
          "PutBucketVersioning",
          "PutBucketWebsite",
          "PutObject",
          "PutObjectLegalHold",
          "PutObjectLockConfiguration",
          "PutObjectRetention",
          "PutObjectTagging",
          "PutPublicAccessBlock",
          "RenameObject",
          "UpdateObjectEncryption",
          "UploadPart",
          "UploadPartCopy");

  private static final Map<String, String> OTHERS =
      Map.ofEntries(
          Map.entry("GET /b?acl", "GetBucketAcl"),
          Map.entry("GET /b/k?acl", "GetObjectAcl"),
          Map.entry("PUT /b?acl", "PutBucketAcl"),
          Map.entry("PUT /b/k?acl", "PutObjectAcl"),
          Map.entry("GET /b?accelerate", "GetBucketAccelerateConfiguration"),
          Map.entry("GET /b?replication", "GetBucketReplication"),
          Map.entry("GET /b/k", "GetObject"));

  private static void collect(Class<?> type, Set<String> names) {
    if (type.isRecord()) {
      names.add(type.getSimpleName());
    } else {
      for (Class<?> each : type.getPermittedSubclasses()) {
        collect(each, names);
      }
    }
  }

  @Test
  void requestsThatAreCalledAsTheirClasses() {
    Set<String> names = new TreeSet<>();
    collect(S3Request.class, names);
    names.removeAll(List.of("GetAcl", "PutAcl", "GetUnconfigured"));
    assertEquals(new TreeSet<>(NAMES_OF_CLASSES), names);
  }

  @Test
  void requestsThatAreCalledOtherwise() throws Exception {
    S3RequestParser parser =
        new S3RequestParser(
            new S3Config("us-east-1", new VirtualHosts(List.of("s3.test")), "Owner"));
    for (Map.Entry<String, String> each : OTHERS.entrySet()) {
      String[] request = each.getKey().split(" ", -1);
      assertEquals(
          each.getValue(),
          OperationNames.of(parser.parse(TestS3.request(request[0], request[1]))),
          each.getKey());
    }
  }
}
