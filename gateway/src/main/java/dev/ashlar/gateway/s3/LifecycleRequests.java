package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;

/** Chooses among the requests with the parameter {@code lifecycle}. */
public final class LifecycleRequests {
  /** Which objects are too small to be moved to another storage class. */
  public static final String MINIMUM_SIZE = "x-amz-transition-default-minimum-object-size";

  private static final String SMALL_STAY = "all_storage_classes_128K";

  /** No class here has a least size, so that all objects are moved. */
  private static final String BY_CLASS = "varies_by_storage_class";

  private LifecycleRequests() {}

  /**
   * @param method GET, PUT or DELETE
   */
  static S3Request of(String method, String bucket, HttpHeaders headers) throws S3Exception {
    return switch (method) {
      case "GET" -> new S3Request.GetBucketLifecycleConfiguration(bucket);
      case "PUT" ->
          new S3Request.PutBucketLifecycleConfiguration(
              bucket,
              Checksums.hasDigest(headers),
              smallObjectsStay(headers.get(MINIMUM_SIZE, BY_CLASS)));
      default -> new S3Request.DeleteBucketLifecycle(bucket);
    };
  }

  private static boolean smallObjectsStay(String minimum) throws S3Exception {
    return switch (minimum) {
      case SMALL_STAY -> true;
      case BY_CLASS -> false;
      default ->
          throw S3Exception.invalidArgument(
              "Invalid value for " + MINIMUM_SIZE, MINIMUM_SIZE, minimum);
    };
  }

  /** The value of the header. */
  public static String minimumSize(boolean smallObjectsStay) {
    return smallObjectsStay ? SMALL_STAY : BY_CLASS;
  }
}
