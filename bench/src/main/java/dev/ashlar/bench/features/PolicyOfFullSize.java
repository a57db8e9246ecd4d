package dev.ashlar.bench.features;

/** A bucket policy as large as S3 allows, none of whose statements matches. */
final class PolicyOfFullSize {
  /** S3's limit of a bucket policy. */
  private static final int BYTES_MAX = 20 << 10;

  private static final String BEGIN = "{\"Version\":\"2012-10-17\",\"Statement\":[";
  private static final String END = "]}";

  private PolicyOfFullSize() {}

  /** Each statement has to be looked at to its last condition. */
  static String of(String bucket) {
    StringBuilder policy = new StringBuilder(BEGIN).append(statement(bucket, 0));
    for (int number = 1; ; number++) {
      String next = "," + statement(bucket, number);
      if (policy.length() + next.length() + END.length() > BYTES_MAX) {
        return policy.append(END).toString();
      }
      policy.append(next);
    }
  }

  private static String statement(String bucket, int number) {
    return """
        {"Effect":"Deny","Principal":"*","Action":["s3:Get*","s3:Put*"],\
        "Resource":"arn:aws:s3:::%s/*","Condition":{"StringLike":{"aws:UserAgent":"*agent-%d*"}}}"""
        .formatted(bucket, number);
  }
}
