package dev.ashlar.it.lake;

import dev.ashlar.it.harness.ServerProcess;
import java.net.URI;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.iam.IamClient;
import software.amazon.awssdk.services.iam.model.AccessKey;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;

/**
 * Sessions of a role that may use a whole bucket, each limited by its session policy to one table,
 * as catalogues make them.
 */
final class SessionVendor implements AutoCloseable {
  private static final String READ = "\"s3:GetObject\", \"s3:GetObjectVersion\"";
  private static final String WRITE =
      READ + ", \"s3:PutObject\", \"s3:DeleteObject\", \"s3:AbortMultipartUpload\"";

  private final String bucket;
  private final URI endpoint;
  private final String role;
  private final AwsCredentials catalogue;
  private final StsClient sts;

  /** Makes a user, {@code catalogue}, and a role for it. */
  SessionVendor(ServerProcess server, String bucket) {
    this.bucket = bucket;
    endpoint = server.endpoint();
    String name = "catalogue-" + bucket;
    try (IamClient iam = iam()) {
      String user = iam.createUser(b -> b.userName(name)).user().arn();
      role =
          iam.createRole(b -> b.roleName(name).assumeRolePolicyDocument(trust(user))).role().arn();
      iam.putRolePolicy(
          b -> b.roleName(name).policyName("bucket").policyDocument(wholeBucket(bucket)));
      iam.putUserPolicy(b -> b.userName(name).policyName("assume").policyDocument(assume(role)));
      AccessKey key = iam.createAccessKey(b -> b.userName(name)).accessKey();
      catalogue = AwsBasicCredentials.create(key.accessKeyId(), key.secretAccessKey());
    }
    sts =
        StsClient.builder()
            .endpointOverride(endpoint)
            .region(Region.of(ServerProcess.REGION))
            .credentialsProvider(StaticCredentialsProvider.create(catalogue))
            .build();
  }

  private static String trust(String user) {
    return """
        {"Version": "2012-10-17", "Statement": [{
          "Effect": "Allow", "Principal": {"AWS": "%s"}, "Action": "sts:AssumeRole"}]}
        """
        .formatted(user);
  }

  private static String wholeBucket(String bucket) {
    return """
        {"Version": "2012-10-17", "Statement": [{
          "Effect": "Allow", "Action": "s3:*",
          "Resource": ["arn:aws:s3:::%1$s", "arn:aws:s3:::%1$s/*"]}]}
        """
        .formatted(bucket);
  }

  private static String assume(String role) {
    return """
        {"Version": "2012-10-17", "Statement": [{
          "Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "%s"}]}
        """
        .formatted(role);
  }

  /** As Apache Polaris and Lakekeeper write it. */
  private static String table(String bucket, String prefix, String actions) {
    return """
        {"Version": "2012-10-17", "Statement": [
          {"Effect": "Allow", "Action": [%3$s], "Resource": "arn:aws:s3:::%1$s/%2$s/*"},
          {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::%1$s",
           "Condition": {"StringLike": {"s3:prefix": ["%2$s", "%2$s/", "%2$s/*"]}}},
          {"Effect": "Allow", "Action": "s3:GetBucketLocation", "Resource": "arn:aws:s3:::%1$s"}]}
        """
        .formatted(bucket, prefix, actions);
  }

  private IamClient iam() {
    return IamClient.builder()
        .endpointOverride(endpoint)
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY)))
        .build();
  }

  /** For the whole bucket, as the catalogue itself needs them for tables' metadata. */
  Map<String, String> forCatalogue() {
    return properties(sts.assumeRole(b -> b.roleArn(role).roleSessionName("all")).credentials());
  }

  /** For one table. */
  Map<String, String> forTable(String location, boolean write) {
    String prefix = location.substring(("s3://" + bucket + "/").length());
    String policy = table(bucket, prefix, write ? WRITE : READ);
    return properties(
        sts.assumeRole(
                b -> b.roleArn(role).roleSessionName("table").policy(policy).durationSeconds(900))
            .credentials());
  }

  private Map<String, String> properties(Credentials session) {
    return Map.of(
        "s3.access-key-id",
        session.accessKeyId(),
        "s3.secret-access-key",
        session.secretAccessKey(),
        "s3.session-token",
        session.sessionToken(),
        "s3.endpoint",
        endpoint.toString(),
        "s3.path-style-access",
        "true",
        "s3.checksum-enabled",
        "true",
        "s3.multipart.part-size-bytes",
        "" + (5 << 20),
        "client.region",
        ServerProcess.REGION);
  }

  @Override
  public void close() {
    sts.close();
  }
}
