package dev.ashlar.gateway.operation.log;

import dev.ashlar.gateway.operation.shared.OperationNames;
import dev.ashlar.gateway.s3.S3Request;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** What access logs call operations: REST, the method, and what it is about. */
final class LogOperations {
  /** Of a key that DeleteObjects deletes. */
  static final String DELETED_KEY = "BATCH.DELETE.OBJECT";

  /** What does not follow from the name of the operation. */
  private static final Map<String, String> NAMED =
      Map.ofEntries(
          Map.entry("AbortMultipartUpload", "DELETE.UPLOAD"),
          Map.entry("CompleteMultipartUpload", "POST.UPLOAD"),
          Map.entry("CopyObject", "COPY.OBJECT"),
          Map.entry("CreateBucket", "PUT.BUCKET"),
          Map.entry("CreateMultipartUpload", "POST.UPLOADS"),
          Map.entry("DeleteBucket", "DELETE.BUCKET"),
          Map.entry("DeleteObjects", "POST.MULTI_OBJECT_DELETE"),
          Map.entry("HeadBucket", "HEAD.BUCKET"),
          Map.entry("ListMultipartUploads", "GET.UPLOADS"),
          Map.entry("ListObjects", "GET.BUCKET"),
          Map.entry("ListObjectsV2", "GET.BUCKET"),
          Map.entry("ListObjectVersions", "GET.BUCKETVERSIONS"),
          Map.entry("ListParts", "GET.UPLOAD"),
          Map.entry("PostObject", "POST.OBJECT"),
          Map.entry("UploadPart", "PUT.PART"),
          Map.entry("UploadPartCopy", "COPY.PART"));

  /** Likewise of a part of the name. */
  private static final Map<String, String> RESOURCES =
      Map.of("POLICY", "BUCKETPOLICY", "LOGGING", "LOGGING_STATUS");

  private static final Pattern VERB =
      Pattern.compile("^(?:Get|Put|Delete|Head|Append|Patch|Rename|Update)(?:Bucket)?");
  private static final Pattern WORD = Pattern.compile("(?<=[a-z])(?=[A-Z])");

  private LogOperations() {}

  /**
   * @param method of the request
   */
  static String of(S3Request request, String method) {
    String name = OperationNames.of(request);
    String known = NAMED.get(name);
    if (known != null) {
      return "REST." + known;
    }
    String about = VERB.matcher(name).replaceFirst("");
    if (name.contains("Bucket") && about.endsWith("Configuration")) {
      about = about.substring(0, about.length() - "Configuration".length());
    }
    String resource = WORD.matcher(about).replaceAll("_").toUpperCase(Locale.ROOT);
    return "REST." + method + "." + RESOURCES.getOrDefault(resource, resource);
  }
}
