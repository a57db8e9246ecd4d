package dev.ashlar.it.harness;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * AWS SDK clients with the SDK's defaults, but for one: they never retry, so that every error
 * shows. The synchronous ones use new connections when the server has been started again.
 */
public final class Clients {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private Clients() {}

  public static S3Client sync(ServerProcess server) {
    return sync(server, credentials());
  }

  /** Over TLS, to another address than the server's plain one. */
  public static S3Client secured(URI endpoint, TrustManager[] trusted) {
    return S3Client.builder()
        .endpointOverride(endpoint)
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .forcePathStyle(true)
        .httpClientBuilder(
            Apache5HttpClient.builder()
                .socketTimeout(TIMEOUT)
                .tlsTrustManagersProvider(() -> trusted))
        .overrideConfiguration(withoutRetries())
        .build();
  }

  /**
   * Of a gateway of a cluster. Connections are used for a second only, so none outlives a gateway
   * that is killed and started again.
   */
  public static S3Client sync(InetSocketAddress gateway) {
    return S3Client.builder()
        .endpointOverride(URI.create("http://" + gateway.getHostString() + ":" + gateway.getPort()))
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .forcePathStyle(true)
        .httpClientBuilder(
            Apache5HttpClient.builder()
                .socketTimeout(TIMEOUT)
                .connectionTimeToLive(Duration.ofSeconds(1)))
        .overrideConfiguration(withoutRetries())
        .build();
  }

  /** Of another account or user than the server's root account. */
  public static S3Client sync(ServerProcess server, String accessKey, String secretKey) {
    return sync(server, credentials(accessKey, secretKey));
  }

  private static S3Client sync(ServerProcess server, StaticCredentialsProvider credentials) {
    return S3Client.builder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials)
        .forcePathStyle(true)
        .httpClientBuilder(
            new ProcessHttpClient.Builder(
                server, Apache5HttpClient.builder().maxConnections(64).socketTimeout(TIMEOUT)))
        .overrideConfiguration(withoutRetries())
        .build();
  }

  public static S3AsyncClient async(ServerProcess server) {
    return S3AsyncClient.builder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .forcePathStyle(true)
        .httpClientBuilder(NettyNioAsyncHttpClient.builder().readTimeout(TIMEOUT))
        .overrideConfiguration(withoutRetries())
        .build();
  }

  /** Cuts large objects into parts and ranges by itself. */
  public static S3AsyncClient multipart(ServerProcess server, long partBytes) {
    return S3AsyncClient.builder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .forcePathStyle(true)
        .multipartEnabled(true)
        .multipartConfiguration(
            m -> m.minimumPartSizeInBytes(partBytes).thresholdInBytes(partBytes))
        .overrideConfiguration(withoutRetries())
        .build();
  }

  /** The same in C: the AWS Common Runtime. It has no way to turn retries off. */
  public static S3AsyncClient crt(ServerProcess server, long partBytes) {
    return S3AsyncClient.crtBuilder()
        .endpointOverride(server.endpoint())
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .forcePathStyle(true)
        .minimumPartSizeInBytes(partBytes)
        .thresholdInBytes(partBytes)
        .build();
  }

  public static S3Presigner presigner(ServerProcess server) {
    return presigner(server.endpoint());
  }

  public static S3Presigner presigner(URI endpoint) {
    return S3Presigner.builder()
        .endpointOverride(endpoint)
        .region(Region.of(ServerProcess.REGION))
        .credentialsProvider(credentials())
        .serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).build())
        .build();
  }

  private static ClientOverrideConfiguration withoutRetries() {
    return ClientOverrideConfiguration.builder()
        .retryStrategy(AwsRetryStrategy.doNotRetry())
        .build();
  }

  private static StaticCredentialsProvider credentials() {
    return credentials(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY);
  }

  private static StaticCredentialsProvider credentials(String accessKey, String secretKey) {
    return StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey));
  }
}
