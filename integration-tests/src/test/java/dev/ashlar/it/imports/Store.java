package dev.ashlar.it.imports;

import dev.ashlar.it.harness.ServerProcess;
import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** An S3 service that is imported from or to. */
record Store(URI endpoint, S3Client s3) implements AutoCloseable {
  static Store at(URI endpoint) {
    return new Store(
        endpoint,
        S3Client.builder()
            .endpointOverride(endpoint)
            .region(Region.of(ServerProcess.REGION))
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY)))
            .forcePathStyle(true)
            .build());
  }

  @Override
  public void close() {
    s3.close();
  }
}
