package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.s3.S3Request;

/** What S3's API calls operations. */
public final class OperationNames {
  private OperationNames() {}

  public static String of(S3Request request) {
    return switch (request) {
      case S3Request.GetAcl get -> get.key() == null ? "GetBucketAcl" : "GetObjectAcl";
      case S3Request.PutAcl put -> put.key() == null ? "PutBucketAcl" : "PutObjectAcl";
      case S3Request.GetUnconfigured get -> get.feature().operation();
      default -> request.getClass().getSimpleName();
    };
  }
}
